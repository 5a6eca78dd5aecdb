"""Attacks on a release: one module an attack, behind the small interface of `base.Attack`."""
