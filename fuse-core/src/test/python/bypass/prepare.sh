#!/bin/sh
# Makes the folder that programs.sh reads.
set -e
cd "$1"
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main repository
seq -f 'line %g of a text that is long enough to be looked at' 40000 >repository/texts
seq 200 >repository/short
git -C repository add .
git -C repository commit -q -m one
git -C repository gc -q
sqlite3 database "create table things (number integer primary key, text);
with recursive up(n) as (select 1 union all select n + 1 from up where n < 30000)
insert into things select n, hex(n) || '-some-text-' || (n * n) from up"
mkdir arrays
seq 300000 >arrays/a.npy
head -c 2000000 /dev/zero >arrays/zeroes
