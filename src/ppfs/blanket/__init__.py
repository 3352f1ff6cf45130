"""Searches for the Markov blanket of the target."""

from ppfs.blanket._fast_iamb import FastIAMB
from ppfs.blanket._fbed import FBED
from ppfs.blanket._grow_shrink import GrowShrink
from ppfs.blanket._hiton_mb import HITONMB
from ppfs.blanket._iamb import IAMB
from ppfs.blanket._iamb_fdr import IAMBFDR
from ppfs.blanket._iamb_npc import IAMBnPC
from ppfs.blanket._inter_iamb import InterIAMB
from ppfs.blanket._inter_iamb_npc import InterIAMBnPC
from ppfs.blanket._mixed_mb import MixedMB
from ppfs.blanket._mmmb import MMMB
from ppfs.blanket._ppfs import PPFS
from ppfs.blanket._ppfs_cv import PPFSCV
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.blanket._run.checkpoint_folder import claim_checkpoint, write_safely
from ppfs.blanket._run.folds import Fold
from ppfs.blanket._sgai import SGAI
from ppfs.blanket._stability import StabilitySelection
from ppfs.blanket._steps.exact_growth import expected_refits
from ppfs.blanket._steps.joint_growth import n_asked_jointly, suits_joint_growth
from ppfs.blanket._steps.second_look import most_looked_at
from ppfs.blanket._tie_star import TIEStar

# What the reference lists; the other names are for other rooms of this package.
__all__ = [
    "FBED",
    "HITONMB",
    "IAMB",
    "IAMBFDR",
    "MMMB",
    "PPFS",
    "PPFSCV",
    "SGAI",
    "FastIAMB",
    "GrowShrink",
    "IAMBnPC",
    "InterIAMB",
    "InterIAMBnPC",
    "MixedMB",
    "StabilitySelection",
    "TIEStar",
]
