# Everything below works on a machine with Python 3.11 or newer, pip, git and make. `make help` lists it.
PYTHON ?= python3
BIN := .venv/bin
# One thread for the linear algebra of each test process: faces are small, and processes share the cores.
export OMP_NUM_THREADS ?= 1

.PHONY: help demo test fuzz lint types imports check bench bench-scale bench-quality bench-groups bench-saliency convergence clean
help:            ## list the commands
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t 16

demo: .venv/.demo  ## set everything up, find modes and clusters of five crescents, write hypermodes-demo/
	$(BIN)/hypermodes demo

test: .venv/.dev   ## set everything up and run every test
	$(BIN)/python -m pytest -n auto

fuzz: .venv/.dev   ## read 100,000 mutated files of every format beside plain parsers; FUZZ="--seed 7 --files 1000"
	cd tests && ../$(BIN)/python -m fuzz --keep ../fuzz-failures $(FUZZ)

lint: .venv/.dev   ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev  ## static types
	$(BIN)/mypy

imports: .venv/.dev  ## imports point one way
	$(BIN)/lint-imports

check: test lint types imports  ## all of the above

bench: .venv/.dev  ## ratios, growth exponents and memory: the product Mp, the fast core, clustering
	$(BIN)/python benchmarks/product.py
	$(BIN)/python benchmarks/fast_core.py
	$(BIN)/python -m pip install --quiet --disable-pip-version-check fast_hdbscan
	env -u OMP_NUM_THREADS $(BIN)/python benchmarks/clustering.py

bench-scale: .venv/.dev  ## larger than memory, Dask, killed workers, ten million points; an hour, two idle cores
	$(BIN)/python benchmarks/scale.py

bench-quality: .venv/.dev  ## clusters against HDBSCAN, spectral, Genie and others; needs HYPERMODES_DATA
	$(BIN)/python -m pip install --quiet --disable-pip-version-check fast_hdbscan genieclust
	$(BIN)/python benchmarks/quality.py

bench-groups: .venv/.dev  ## clusters of all kinds of data against nine others; WHAT="plane --seeds 3"; needs HYPERMODES_DATA
	$(BIN)/python -m pip install --quiet --disable-pip-version-check fast_hdbscan fast-plscan evoc umap-learn igraph leidenalg infomap genieclust
	$(BIN)/python benchmarks/groups.py $(WHAT)

bench-saliency: .venv/.dev  ## saliency against five other methods on marked pictures; needs HYPERMODES_DATA
	$(BIN)/python -m pip install --quiet --disable-pip-version-check opencv-contrib-python-headless
	$(BIN)/python benchmarks/saliency.py

convergence: .venv/.dev  ## rounds and steps to the certificate on five crescents
	$(BIN)/python benchmarks/convergence.py

clean:           ## remove the environment and everything generated
	rm -rf .venv hypermodes-demo hypermodes-fig1 hypermodes-fig5 hypermodes-fig6 fuzz-failures benchmarks/results .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	@touch $@ .venv/.demo
