#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image.
set -euo pipefail
source=$(cd "$(dirname "$0")" && pwd)

apt-get update -q
apt-get install -y -q --no-install-recommends python3 python3-venv bubblewrap
python3 -I -m venv "$source/../venv"
cd "$source" # requirements.txt names the wheel beside it
"$source/../venv/bin/python" -I -m pip install --no-cache-dir -r requirements.txt
