"""The same algorithm on plain arrays, for many starts at once. Imports numpy and numba, nothing of the API.

`graph` is what the kernels read, `faces` climbs on small dense matrices, `shifting` runs Algorithm 1
for a block of starts. The paper layer (simplex … shift) says what each step means; parity tests hold
the two together.
"""
