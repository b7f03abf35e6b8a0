#!/bin/sh
# Programs as they are, over a folder with a git repository, a database and other files; what they print must be the same
# with the bypass library and without.
set -e
cd "$1"
tar cf - repository arrays database | sha256sum
git -C repository grep -c "line 7" | sha256sum
git -C repository log --oneline | wc -l
git -C repository fsck --full 2>&1 | tail -1
sqlite3 "file:database?mode=ro" "select count(*), sum(number), max(length(text)) from things; pragma integrity_check"
sqlite3 -readonly database "select text from things where number = 777"
sha256sum arrays/* repository/texts | cut -c1-64
wc -l <repository/texts
sort repository/texts | sha256sum
grep -c 11 repository/texts
dd if=arrays/a.npy bs=7777 skip=3 count=11 2>/dev/null | sha256sum
tail -c 100 repository/texts
cmp repository/texts repository/texts && cp repository/texts /dev/null
head -n 3 repository/texts | cut -c1-30
gzip -c repository/texts | gzip -d | sha256sum
while read -r line; do
  echo "$line"
  head -c 20 >/dev/null
done <repository/short
