"""Matching methods that ours is compared with, each from its own paper, one a module.

All take `Candidates` and an affinity of them, or `triples.Triples`, and give an `assignment.Assignment`:
scores of all candidates, and one-to-one pairs.

======================  ==================================  =============================================
module                  maximises                           paper
======================  ==================================  =============================================
spectral                xᵀMx on the sphere                  Leordeanu & Hebert 2005 (SM)
ipfp                    xᵀMx over matchings                 Leordeanu, Hebert & Sukthankar 2009 (IPFP)
rrwm                    (a random walk)                     Cho, Lee & Lee 2010 (RRWM)
graph_shift             xᵀMx on the simplex                 Liu & Yan 2010
clipper                 xᵀMx / xᵀx over cliques             Lusk, Fathian & How 2021 (CLIPPER)
tensor                  H x x x, rows normalised            Duchenne, Bach, Kweon & Ponce 2011 (TM)
probabilistic           -KL(marginals, soft matching)       Zass & Shashua 2008 (PM)
======================  ==================================  =============================================
"""
