#!/usr/bin/env bash
# Everything that earlier versions promised, shown again. All of it takes hours on two cores.
#
#   benchmarks/promises.sh            every promise
#   benchmarks/promises.sh oracle     one of them
#   benchmarks/promises.sh --list     their names
#
# CORPUSMILL_DATA names a folder with corpus/, corpus_large/, tokenizers/ and reference/. Logs go to
# benchmarks/cache/promises/. A promise that does not hold is printed as BROKEN; the exit code is 1.
set -uo pipefail
cd "$(dirname "$0")/.."
: "${CORPUSMILL_DATA:=}"
python=.venv/bin/python
logs=benchmarks/cache/promises
peer=$logs/datatrove/bin/python

# name | what is promised | command
promises="
ci|lint, the demo, every test, torch, both SLURM profiles|bash .ci/run
oracle|no difference from the oracle in 100 seeds|$python -m qa.fuzz --seeds 0 100 --jobs 2
campaigns|kills, full disks, bad inputs, files of other runs|$python -m qa.campaigns
yardstick|at most 2.5 times one core that only reads and tokenizes; 35 times as fast as datatrove|$python benchmarks/yardstick.py --data $CORPUSMILL_DATA/corpus $CORPUSMILL_DATA/corpus_large --tokenizer $CORPUSMILL_DATA/tokenizers/qwen3 --runs 3 --datatrove
filters|the decisions of datatrove's filters|$python benchmarks/filters.py --data $CORPUSMILL_DATA/corpus $CORPUSMILL_DATA/corpus_large --megabytes 400 --edges 3000 --peer $peer
languages|languages as right and as fast as before|$python benchmarks/languages.py --only corpusmill
dedup|recall and precision of near-duplicates|$python benchmarks/dedup_quality.py --documents $CORPUSMILL_DATA/neardup/docs.jsonl.zst
memory|no job above its mem_mb|$python benchmarks/memory.py --tokenizer $CORPUSMILL_DATA/tokenizers/qwen3
estimate|what estimate says is what a run does|$python benchmarks/estimate.py
stages|the three stages of SmolLM3 reach their shares, on any cores, after kills|$python -m pytest -q --whole tests/test_smollm3.py tests/test_mixture_workflow.py
mixture|a mixture within one document of its budget; its own steps take at most 8 % of the CPU seconds|$python benchmarks/mixture.py --data $CORPUSMILL_DATA/corpus $CORPUSMILL_DATA/corpus_large --tokenizer $CORPUSMILL_DATA/tokenizers/qwen3
shrink|840 proxies; their repetition within 1 % of the targets|$python benchmarks/shrink.py --data $CORPUSMILL_DATA/corpus $CORPUSMILL_DATA/corpus_large --tokenizer $CORPUSMILL_DATA/tokenizers/gpt2
publish|equal bytes through an object store|$python benchmarks/publish.py
stream|the samples of NumPy's own reading|$python benchmarks/stream.py
dag|a dry run of 31,000 jobs|$python benchmarks/dag.py
"

if [ "${1:-}" = --list ]; then
  cut -d'|' -f1,2 <<<"$promises" | tr '|' '\t'
  exit
fi
[ -n "$CORPUSMILL_DATA" ] || { echo "CORPUSMILL_DATA: name the folder with corpus/ and tokenizers/" >&2; exit 2; }
mkdir -p "$logs"
broken=0
while IFS='|' read -r name promise command; do
  [ -n "$name" ] && { [ -z "${1:-}" ] || [ "$1" = "$name" ]; } || continue
  if [ "$name" = filters ] && [ ! -x "$peer" ]; then
    $python -m venv "$logs/datatrove"
    "$peer" -m pip install --quiet -r benchmarks/peers/datatrove.txt
  fi
  begun=$SECONDS
  if $command >"$logs/$name.log" 2>&1 </dev/null; then state=holds; else state=BROKEN broken=1; fi
  echo "$state: $name, $promise ($((SECONDS - begun)) s, $logs/$name.log)"
done <<<"$promises"
exit "$broken"
