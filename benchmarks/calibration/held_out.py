"""How often useless columns are called in tables that the test was not changed for after they were run.

    python benchmarks/calibration/held_out.py run --replicates 60     # resumes; results/held_out.csv
    python benchmarks/calibration/held_out.py print                   # the table of docs/p-values.md

The cells were written together with those of `another_make`, without knowledge of the test, and run once it was final.
In every cell a column x is independent of the target given all other columns. In the formulas e is normal noise, 1{} an
indicator, and sig the logistic function. Those in HARD are meant to be beyond what 300 rows can tell.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from another_make import (
    CELLS,
    array_of,
    bernoulli,
    categories,
    cell,
    frame_of,
    main,
    pick,
    sigmoid,
    streams,
)

RESULTS = Path(__file__).parent / "results" / "held_out.csv"

_OTHERS = set(CELLS)


# ------------------------------------------------------------------ numeric y


@cell("numeric")
def num_growth_bump(rng, n):
    # z~U(-2,2)^4; c=1.2 tanh(2 z1)(1+.3 z3)+exp(-2 z2^2); x=c+.6e; y=c-.3 z4+.6e
    rz, rx, ry = streams(rng)
    z = rz.uniform(-2, 2, (n, 4))
    c = 1.2 * np.tanh(2 * z[:, 0]) * (1 + 0.3 * z[:, 2]) + np.exp(-2 * z[:, 1] ** 2)
    return array_of(z, c + 0.6 * rx.normal(size=n), 4, c - 0.3 * z[:, 3] + 0.6 * ry.normal(size=n))


@cell("numeric")
def num_bmi_rounded(rng, n):
    # height cm and weight kg rounded to whole, age, sex; B=weight/height_m^2; x=round(40+1.9B+5 sex+5e) waist cm;
    # y=log glucose=4+.03(B-25)+.03 max(B-30,0)+.004 age+.12e
    rz, rx, ry = streams(rng)
    sex, age = rz.integers(0, 2, n), rz.integers(18, 80, n)
    ht = np.round(164 + 12 * sex + 7 * rz.normal(size=n))
    wt = np.round((ht / 100) ** 2 * np.exp(rz.normal(np.log(26), 0.18, n)))
    B = wt / (ht / 100) ** 2
    x = np.round(40 + 1.9 * B + 5 * sex + 5 * rx.normal(size=n))
    y = 4 + 0.03 * (B - 25) + 0.03 * np.maximum(B - 30, 0) + 0.004 * age + 0.12 * ry.normal(size=n)
    return frame_of(
        {"height": ht, "weight": wt, "waist": x, "age": age, "sex": categories(sex, ["f", "m"])}, "waist", y
    )


@cell("numeric")
def num_t3_columns(rng, n):
    # z 6 columns t3; g(z)=sign(z)log(1+|z|); c=g(z1)+.7 g(z2); x=c+.4 t3; y=c+.4 g(z3)+.4 t3
    rz, rx, ry = streams(rng)
    z = rz.standard_t(3, (n, 6))
    g = np.sign(z) * np.log1p(np.abs(z))
    c = g[:, 0] + 0.7 * g[:, 1]
    return array_of(z, c + 0.4 * rx.standard_t(3, n), 1, c + 0.4 * g[:, 2] + 0.4 * ry.standard_t(3, n))


@cell("numeric")
def num_plateau_grade(rng, n):
    # dose~Exp(1), z2..z4~N; c=min(dose,1.2)-.6 max(z2-.5,0); x=0..4 ordered grade by cuts of 2.5c+logistic; y=1.5c+.3
    # z3+.5(1+.25 dose)e
    rz, rx, ry = streams(rng)
    dose, z = rz.exponential(1, n), rz.normal(size=(n, 3))
    c = np.minimum(dose, 1.2) - 0.6 * np.maximum(z[:, 0] - 0.5, 0)
    x = np.digitize(2.5 * c + rx.logistic(size=n), [0, 1, 2, 3.2])
    y = 1.5 * c + 0.3 * z[:, 1] + 0.5 * (1 + 0.25 * dose) * ry.normal(size=n)
    return frame_of(
        {
            "grade": categories(x, ["0", "I", "II", "III", "IV"], True),
            "dose": dose,
            "a": z[:, 0],
            "b": z[:, 1],
            "c": z[:, 2],
        },
        "grade",
        y,
    )


@cell("numeric")
def num_hour_weekday(rng, n):
    # hour 0..23, weekday in 7, wind~Gamma; W=weekend; c=W cos(2 pi(h-15)/24)+(1-W)cos(2 pi(h-8)/12); x=exp(.7c+.4e);
    # y=c-.6 log wind+.7e
    rz, rx, ry = streams(rng)
    h, d, wind = rz.integers(0, 24, n), rz.integers(0, 7, n), rz.gamma(2, 1, n) + 0.1
    c = np.where(d >= 5, np.cos(2 * np.pi * (h - 15) / 24), np.cos(2 * np.pi * (h - 8) / 12))
    x = np.exp(0.7 * c + 0.4 * rx.normal(size=n))
    y = c - 0.6 * np.log(wind) + 0.7 * ry.normal(size=n)
    days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    return frame_of({"hour": h, "weekday": categories(d, days), "wind": wind, "traffic": x}, "traffic", y)


@cell("numeric")
def num_admitted(rng, n):
    # z~N(0,I5); x=.8 z1^2 sign(z1)/(1+.3|z1|)+.4 z2+.8e; rows kept if x+z3>-.4 (selection on x,z only); y=q(z1)+.5
    # z3+.8e, q the same curve
    rz, _rx, ry = streams(rng)
    m_ = 3 * n + 100
    z = rz.normal(size=(m_, 5))
    q = 0.8 * z[:, 0] * np.abs(z[:, 0]) / (1 + 0.3 * np.abs(z[:, 0]))
    x = q + 0.4 * z[:, 1] + 0.8 * rz.normal(size=m_)
    k = np.flatnonzero(x + z[:, 2] > -0.4)[:n]
    z, q, x = z[k], q[k], x[k]
    return array_of(z, x, 5, q + 0.5 * z[:, 2] + 0.8 * ry.normal(size=n))


@cell("numeric")
def num_strong_both(rng, n):
    # z 3 normals with rho .6, w1,w2~N; f=z1+.5 z2^2-.5 z1 z3 ; x=f+.3e (R2 about .95); y=f+.5 w1+.45e (R2 about .9)
    rz, rx, ry = streams(rng)
    z = np.sqrt(0.6) * rz.normal(size=(n, 1)) + np.sqrt(0.4) * rz.normal(size=(n, 3))
    w = rz.normal(size=(n, 2))
    f = z[:, 0] + 0.5 * z[:, 1] ** 2 - 0.5 * z[:, 0] * z[:, 2]
    return array_of(
        np.column_stack([z, w]), f + 0.3 * rx.normal(size=n), 3, f + 0.5 * w[:, 0] + 0.45 * ry.normal(size=n)
    )


@cell("numeric")
def num_income_missing_x(rng, n):
    # edu 8..20 whole years, exper~U(0,40), region in 4, z4~N; s=(edu-13)/2.5, v=exper/20-1; c=.35s+.5v-.9v^2;
    # x=exp(c+.5e) income, NaN w.p. sig(-1.2+.6s); y=1.2c+.5 1{region=2}+.6e
    rz, rx, ry = streams(rng)
    edu = np.clip(np.round(rz.normal(13, 2.5, n)), 8, 20)
    ex, reg, z4 = rz.uniform(0, 40, n), rz.choice(4, n, p=[0.4, 0.3, 0.2, 0.1]), rz.normal(size=n)
    e, v = (edu - 13) / 2.5, ex / 20 - 1
    c = 0.35 * e + 0.5 * v - 0.9 * v**2
    x = np.exp(c + 0.5 * rx.normal(size=n))
    x[rx.random(n) < sigmoid(-1.2 + 0.6 * e)] = np.nan
    y = 1.2 * c + 0.5 * (reg == 2) + 0.6 * ry.normal(size=n)
    return frame_of(
        {"edu": edu, "exper": ex, "income": x, "region": categories(reg, "NESW"), "z4": z4}, "income", y
    )


_TOWN = np.array([[0.2, 0.2], [0.8, 0.25], [0.5, 0.55], [0.2, 0.8], [0.85, 0.8]])


@cell("numeric")
def num_nearest_town(rng, n):
    # lon,lat~U(0,1), elev=exp(N(0,.5)); x in 5 towns, logits -12|p-t_k|^2; S=1.5exp(-8|p-t3|^2)+1.2 lon lat; y=S+.2
    # log elev+.35e
    rz, rx, ry = streams(rng)
    p, el = rz.random((n, 2)), np.exp(rz.normal(0, 0.5, n))
    d = ((p[:, None, :] - _TOWN[None]) ** 2).sum(2)
    x = pick(rx, -12 * d)
    y = 1.5 * np.exp(-8 * d[:, 2]) + 1.2 * p[:, 0] * p[:, 1] + 0.2 * np.log(el) + 0.35 * ry.normal(size=n)
    return frame_of({"lon": p[:, 0], "lat": p[:, 1], "town": categories(x, "abcde"), "elev": el}, "town", y)


_r = np.random.default_rng(5)
_WAVE = _r.normal(size=(2, 25))
_WAVE = 38 * _WAVE / np.sqrt((_WAVE**2).sum(0))
_PH = _r.uniform(0, 2 * np.pi, 25)


@cell("numeric", hard=True)
def num_rough_field(rng, n):
    # p~U(0,1)^2, w~N(0,I2); R=sum of 25 fixed plane waves of |k|=38, var 1; x=R+.7e; y=R+.4 w1+.7e
    rz, rx, ry = streams(rng)
    p, w = rz.random((n, 2)), rz.normal(size=(n, 2))
    R = np.cos(p @ _WAVE + _PH).sum(1) * np.sqrt(2 / 25)
    return array_of(
        np.column_stack([p, w]), R + 0.7 * rx.normal(size=n), 2, R + 0.4 * w[:, 0] + 0.7 * ry.normal(size=n)
    )


# ------------------------------------------------------------------ two classes


@cell("binary")
def bin_weakest_link(rng, n):
    # z~N(0,I5); m=min(z1,z2,z3)+.85; x=m+.7e; y~Bern(sig(1.8m+.4 z4))
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 5))
    m = z[:, :3].min(1) + 0.85
    return array_of(z, m + 0.7 * rx.normal(size=n), 2, bernoulli(ry, 1.8 * m + 0.4 * z[:, 3]))


_CELL2 = np.array([[1.2, -1.0, 0.0], [-1.0, 0.8, 0.5], [0.3, -1.2, 1.3], [-0.6, 1.0, -1.1]])


@cell("binary")
def bin_two_factors(rng, n):
    # job in 4, shift in 3 (dependent on job), u~N; c=fixed 4x3 table T[job,shift]; x~Bern(sig(1.3c+.3u));
    # y~Bern(sig(1.3c-.3u-.3))
    rz, rx, ry = streams(rng)
    j = rz.choice(4, n, p=[0.35, 0.3, 0.2, 0.15])
    s = (rz.choice(3, n, p=[0.5, 0.3, 0.2]) + (j == 3)) % 3
    u = rz.normal(size=n)
    c = _CELL2[j, s]
    x, y = bernoulli(rx, 1.3 * c + 0.3 * u), bernoulli(ry, 1.3 * c - 0.3 * u - 0.3)
    return frame_of(
        {
            "job": categories(j, ["clerk", "crew", "cook", "chief"]),
            "alarm": categories(x, ["no", "yes"]),
            "shift": categories(s, ["day", "late", "night"]),
            "u": u,
        },
        "alarm",
        y,
    )


@cell("binary")
def bin_scale_only(rng, n):
    # z~N(0,I4); x=.3 z2+exp(.7 z1)e clipped to +-6 (scale confounded); y~Bern(sig(1.2 z1+.6 |z2|-.5))
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 4))
    x = np.clip(0.3 * z[:, 1] + np.exp(0.7 * z[:, 0]) * rx.normal(size=n), -6, 6)
    return array_of(z, x, 0, bernoulli(ry, 1.2 * z[:, 0] + 0.6 * np.abs(z[:, 1]) - 0.5))


@cell("binary")
def bin_weak_ar12(rng, n):
    # z 12 columns AR(.8); s=sum(z1..z10)/7; x=.5s+e (noisy sum of many); y~Bern(sig(.6s+.2(z11^2-1)))
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 12))
    for j in range(1, 12):
        z[:, j] = 0.8 * z[:, j - 1] + 0.6 * z[:, j]
    s = z[:, :10].sum(1) / 7
    return array_of(z, 0.5 * s + rx.normal(size=n), 6, bernoulli(ry, 0.6 * s + 0.2 * (z[:, 10] ** 2 - 1)))


@cell("binary")
def bin_claims_churn(rng, n):
    # tenure=round(Exp(30)) months, fee~lognormal, plan in 3; t=log1p(tenure)-3; c=-.8t+.7 1{plan=2}(t+1)+.3 log fee;
    # x=0 w.p. sig(.2-c) else 1+Poisson(exp(.5c)); y~Bern(sig(-.8+1.3c))
    rz, rx, ry = streams(rng)
    ten, fee, pl = (
        np.round(rz.exponential(30, n)),
        np.exp(rz.normal(3, 0.5, n)),
        rz.choice(3, n, p=[0.5, 0.3, 0.2]),
    )
    w = rz.normal(size=n)
    t = np.log1p(ten) - 3
    c = -0.8 * t + 0.7 * (pl == 2) * (t + 1) + 0.3 * (np.log(fee) - 3)
    x = np.where(rx.random(n) < sigmoid(0.2 - c), 0, 1 + rx.poisson(np.exp(0.5 * c)))
    return frame_of(
        {"claims": x, "tenure": ten, "fee": fee, "plan": categories(pl, ["s", "m", "l"]), "w": w},
        "claims",
        bernoulli(ry, -0.8 + 1.3 * c),
    )


@cell("binary", hard=True)
def bin_parity(rng, n):
    # z 9 fair bits; s=(-1)^(z1+z3+z5+z7); x=s+.8e; y~Bern(sig(1.5s+.5(z2-.5)))
    rz, rx, ry = streams(rng)
    z = rz.integers(0, 2, (n, 9))
    s = 1.0 - 2.0 * (z[:, [0, 2, 4, 6]].sum(1) % 2)
    return array_of(z, s + 0.8 * rx.normal(size=n), 9, bernoulli(ry, 1.5 * s + 0.5 * (z[:, 1] - 0.5)))


# ------------------------------------------------------------------ three or more classes


@cell("multiclass")
def multi3_wind_sector(rng, n):
    # z1,z2~N, z3~N; th=atan2(z2,z1); x=cos(th-1)+.5 sin(2th)+.6e; y in 3, logits 2cos(th-1), 2cos(th-3.1),
    # 2cos(th-5.2)+.3 z3
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 3))
    th = np.arctan2(z[:, 1], z[:, 0])
    x = np.cos(th - 1) + 0.5 * np.sin(2 * th) + 0.6 * rx.normal(size=n)
    L = np.column_stack([2 * np.cos(th - 1), 2 * np.cos(th - 3.1), 2 * np.cos(th - 5.2) + 0.3 * z[:, 2]])
    return array_of(z, x, 1, pick(ry, L))


_A6 = np.array([[1.0, 0], [-0.8, 0.6], [0, -1.0], [0.7, 0.7], [-0.7, -0.7], [0.2, 1.2]])


@cell("multiclass")
def multi6_zipf(rng, n):
    # z~lognormal(s=.6)^3 and 4 normals; l1=log z1/.6, l2=max(z4,-.5); y in 6, logits -1.1 log(k)+A_k.(l1,l2); x=.6
    # l1+.6 l2+.3 l1 l2+.7e; A fixed
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 7))
    l1, l2 = z[:, 0].copy(), np.maximum(z[:, 3], -0.5)
    z[:, :3] = np.exp(0.6 * z[:, :3])
    L = np.column_stack([l1, l2]) @ _A6.T - 1.1 * np.log(np.arange(1, 7))
    x = 0.6 * l1 + 0.6 * l2 + 0.3 * l1 * l2 + 0.7 * rx.normal(size=n)
    return array_of(z, x, 7, pick(ry, L))


@cell("multiclass")
def multi4_job_wage(rng, n):
    # occ in 5, wage=exp(N(m_occ,.5)), age, kids~Poisson; r=log wage-2; c=1.4 r b_occ, b=(1.5,-1,.8,0,2); x
    # categorical 3, logits (0,c,1.5c-.5+.02(age-45)); y in 4 (first about .5), logits (1,1.2c,-1.2c-.3,.4kids-.6)
    rz, rx, ry = streams(rng)
    o = rz.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    wage = np.exp(rz.normal(np.array([2, 2.3, 1.8, 2.1, 2.4])[o], 0.5))
    age, kids = rz.integers(20, 66, n), rz.poisson(1, n)
    c = 1.4 * (np.log(wage) - 2) * np.array([1.5, -1, 0.8, 0, 2])[o]
    x = pick(rx, np.column_stack([np.zeros(n), c, 1.5 * c - 0.5 + 0.02 * (age - 45)]))
    y = pick(ry, np.column_stack([np.full(n, 1.0), 1.2 * c, -1.2 * c - 0.3, 0.4 * kids - 0.6]))
    return frame_of(
        {
            "occ": categories(o, ["o1", "o2", "o3", "o4", "o5"]),
            "wage": wage,
            "plan": categories(x, ["basic", "plus", "max"]),
            "age": age,
            "kids": kids,
        },
        "plan",
        y,
    )


@cell("multiclass")
def multi3_scale_ends(rng, n):
    # z~N(0,I5), z2 NaN w.p. sig(-1.3+z3); f=z2 or .6 if NaN; c=.8 sin(1.5 z1)+.6f; x=clip(round(5+2.5c+1.8e),0,10)
    # scale with floor and ceiling; y in 3 (about .2,.7,.1) by cuts (-1.7,2.6) of 1.6c+.3 z4+logistic
    rz, rx, ry = streams(rng)
    z = rz.normal(size=(n, 5))
    miss = rz.random(n) < sigmoid(-1.3 + z[:, 2])
    f = np.where(miss, 0.6, z[:, 1])
    z[miss, 1] = np.nan
    c = 0.8 * np.sin(1.5 * z[:, 0]) + 0.6 * f
    x = np.clip(np.round(5 + 2.5 * c + 1.8 * rx.normal(size=n)), 0, 10)
    y = np.digitize(1.6 * c + 0.3 * z[:, 3] + ry.logistic(size=n), [-1.7, 2.6])
    return array_of(z, x, 3, y)


@cell("multiclass", hard=True)
def multi3_spiral(rng, n):
    # z1,z2 uniform in the disc of radius 1, z3..z5~N; ph=2 th+22 r; x=sin(ph)+.6e; y in 3, logits (1.8 sin ph,1.8 cos
    # ph,.3 z3)
    rz, rx, ry = streams(rng)
    r, th, w = np.sqrt(rz.random(n)), rz.uniform(0, 2 * np.pi, n), rz.normal(size=(n, 3))
    ph = 2 * th + 22 * r
    z = np.column_stack([r * np.cos(th), r * np.sin(th), w])
    L = np.column_stack([1.8 * np.sin(ph), 1.8 * np.cos(ph), 0.3 * w[:, 0]])
    return array_of(z, np.sin(ph) + 0.6 * rx.normal(size=n), 5, pick(ry, L))


# ------------------------------------------------------------------ counts


@cell("count")
def cnt_zip_clinic(rng, n):
    # age a~U(-1.7,1.7), dist=exp(N(0,.8)), z3,z4~N; c=.7 a+.5 1{dist>1.5}-.4 z3 a; y=0 w.p. sig(-.8-c) else
    # Poisson(exp(.8+.5c)); x=exp(.7c+.4 e_h), e_h~N scaled by 1+.5 1{a>0}
    rz, rx, ry = streams(rng)
    a, dist, z = rz.uniform(-1.7, 1.7, n), np.exp(rz.normal(0, 0.8, n)), rz.normal(size=(n, 2))
    c = 0.7 * a + 0.5 * (dist > 1.5) - 0.4 * z[:, 0] * a
    x = np.exp(0.7 * c + 0.4 * (1 + 0.5 * (a > 0)) * rx.normal(size=n))
    y = np.where(ry.random(n) < sigmoid(-0.8 - c), 0, ry.poisson(np.exp(0.8 + 0.5 * c)))
    return frame_of({"age": a, "dist": dist, "cost": x, "z3": z[:, 0], "z4": z[:, 1]}, "cost", y)


@cell("count")
def cnt_heaped(rng, n):
    # stress~Beta(2,3), income lognormal, smoker bit, age; c=smoker*(3 stress)+.3 log income; x=10
    # round(clip(2+1.2c+.8e,0,9)) heaped score; y=count heaped to 5s above 10: Poisson(exp(.3+.7c))
    rz, rx, ry = streams(rng)
    st, inc, sm, age = (
        rz.beta(2, 3, n),
        np.exp(rz.normal(0, 0.7, n)),
        (rz.random(n) < 0.45).astype(int),
        rz.integers(18, 75, n),
    )
    c = 3 * sm * st + 0.3 * np.log(inc)
    x = 10 * np.round(np.clip(2 + 1.2 * c + 0.8 * rx.normal(size=n), 0, 9))
    y = ry.poisson(np.exp(0.3 + 0.7 * c))
    y = np.where(y > 10, 5 * np.round(y / 5), y).astype(int)
    return frame_of({"stress": st, "income": inc, "smoker": sm, "score": x, "age": age}, "score", y)


_SLOPE = np.random.default_rng(23).normal(size=40)


@cell("count", hard=True)
def cnt_store_slopes(rng, n):
    # store in 40 levels, fixed slopes b_store~N(0,1), price p~N, w~N; c=clip(b p,-3,3); x=c+.8e;
    # y~Poisson(exp(.6+.5c+.2w))
    rz, rx, ry = streams(rng)
    g, p, w = rz.integers(0, 40, n), rz.normal(size=n), rz.normal(size=n)
    c = np.clip(_SLOPE[g] * p, -3, 3)
    x = c + 0.8 * rx.normal(size=n)
    return frame_of(
        {"promo": x, "store": categories(g, [f"k{k}" for k in range(40)]), "price": p, "w": w},
        "promo",
        ry.poisson(np.exp(0.6 + 0.5 * c + 0.2 * w)),
    )


NAMES = [name for name in CELLS if name not in _OTHERS]

if __name__ == "__main__":
    main(NAMES, RESULTS)
