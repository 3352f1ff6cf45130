// Fill the list of versions from the file beside the folders of all versions, and go to the same page of another one.
// Without that file, as on a page that is opened from a disk, the list has the version of the page alone.
document.addEventListener("DOMContentLoaded", () => {
  const box = document.querySelector(".versions");
  if (!box || !location.protocol.startsWith("http")) return;
  const file = new URL(box.dataset.versions, location.href);
  fetch(file)
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
    .then((versions) => {
      const select = box.querySelector("select");
      const here = location.href.slice(new URL(".", file).href.length);
      const folder = here.split("/")[0];
      select.replaceChildren(
        ...versions.map(({ name, title }) => new Option(title, name, false, name === folder))
      );
      select.addEventListener("change", async () => {
        const root = new URL(`${select.value}/`, file);
        const page = new URL(here.slice(folder.length + 1), root);
        const exists = (await fetch(page, { method: "HEAD" })).ok;
        location.assign(exists ? page : root);
      });
    })
    .catch(() => {});
});
