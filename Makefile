# The targets of the project. `make help` lists those that are used daily; `make long` and `make bench` name the others.
SHELL := /bin/bash
CACHE ?= $(or $(PGW_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/posix-gateway)
export PGW_CACHE := $(CACHE)
VENV := $(CACHE)/venv/bin
export PATH := $(PATH):$(CACHE)/go/bin:$(CACHE)/bin
MVN ?= mvn -q --batch-mode
DIST := alluxio-adapter/target/dist
ARGS ?=
# TRIES=2: a test that fails is tried once more, and told of (.ci/again).
TRIES ?= 1
AGAIN := $(if $(filter 2,$(TRIES)),$(CURDIR)/.ci/again)
# What tests of a built tree need built first; empty where `make test` has built it.
BUILT ?= java-build

# Lanes run side by side, each target of a lane after the other. The adapter's tests take the longest: those on mounts in this JVM
# are in one lane, the others, with gateways of their own, in the other; the lane that ends first takes the targets they share. Tests of
# faults, of takeovers and of time come last, likewise: they wait more than they compute, so that two lanes leave each other room. The
# parts add theirs in the fragments included below.
BUILD_TARGETS :=
CHECK_TARGETS := native-check style-check bench-check docs-check
TEST_TARGETS :=
FAULT_TARGETS := core-fault-test
LANES := .ci/lanes.py
comma := ,
list = $(subst $() ,$(comma),$(strip $(1)))

-include csi/csi.mk charts/charts.mk docker/docker.mk e2e/e2e.mk

.DEFAULT_GOAL := help
.PHONY: native-fuzz java-fuzz help bench bench-all bench-check bench-compare bench-core bench-package bench-peers bench-requests bench-start docs-check long setup build bypass-test-long coherence test test-only check fmt demo docs fault stress-alluxio nothing-moves s3-test clean pre-pr java-build java-check java-test native-check style-check versions-check mutants setup-demo setup-cluster setup-s3 setup-train stress sanitized native-test jcstress jcstress-short core-test adapter-mounted-test adapter-test core-fault-test adapter-mounted-fault-test adapter-fault-test coverage flaky bench-fairness bench-memory

help: ## Print this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | sort | expand -t 20

setup: ## Install missing Debian packages, Python tools and Go
	@.ci/setup

setup-demo:
	@.ci/setup demo

setup-cluster:
	@.ci/setup cluster

setup-train:
	@.ci/setup train

# The S3 server of the tests and of `posix-gateway demo --under-store s3`; minutes, once.
setup-s3: setup
	@alluxio-adapter/s3-server/build

# The same of HDFS: 95 MB of jars, once.
.PHONY: setup-hdfs
setup-hdfs: setup
	@$(MVN) -f alluxio-adapter/hdfs-server/pom.xml process-resources

build: ## Build everything: bin/posix-gateway, csi/bin/*
	@$(LANES) build java=java-build go=$(call list,$(BUILD_TARGETS))

# Alluxio's client in one jar, which a change of its pom makes again; jars that are no longer packaged would stay on the class path.
CLIENT := alluxio-adapter/alluxio-client
FRESH_JARS = [ $(CLIENT)/target/alluxio-client.jar -nt $(CLIENT)/pom.xml ] || rm -f $(CLIENT)/target/alluxio-client.jar; rm -f $(DIST)/lib/*.jar

java-build:
	@echo "==> building the Java parts and the native library"
	@$(FRESH_JARS)
	@$(MVN) -Dquick -DskipTests package
	@ln -sfn $(DIST)/bin bin

demo: setup-demo java-build ## Start a real Alluxio with a sample dataset, and mount it at ./mnt (ARGS=--check: unattended)
	@bin/posix-gateway demo $(ARGS)

test: setup build ## Run every test in its short form, in parallel lanes; list the slowest and how many passed
	@$(LANES) --tests test java=core-test,adapter-mounted-test other=adapter-test --shared $(call list,jcstress-short $(TEST_TARGETS) native-test) \
	  --last faults=adapter-mounted-fault-test service=adapter-fault-test --last-shared $(call list,$(FAULT_TARGETS))

# Maven's tests on what is built, without packaging it again; Surefire says what it ran.
FAULT_TESTS := **/*FaultTest.java
MOUNTED_FAULT_TESTS := **/alluxio/mounted/*FaultTest.java
MOUNTED_TESTS := **/alluxio/mounted/*Test.java,**/alluxio/mounted/*IT.java
# These are of Maven itself, which has nothing to compile, and lives for seconds.
SHORT_MVN := MAVEN_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC $$MAVEN_OPTS" $(MVN) -Dquick
# On a tree that is built, Maven makes nothing: lanes share its target folders, and what one makes anew the other may be reading.
COMPILED := -Dprotoc.skip -Dexec.skip -Dmaven.resources.skip -Dmaven.main.skip -Dpgw.tests.compiled=true
# Minutes after which a class of these tests hangs: its threads are printed, and it is ended. 0: never.
TEST_LIMIT ?= 15
WATCHED := -Djunit.jupiter.extensions.autodetection.enabled=true -Dpgw.test.limit=$(TEST_LIMIT)
MVN_TEST := $(SHORT_MVN) $(WATCHED) $(if $(BUILT),,$(COMPILED)) -Dorg.slf4j.simpleLogger.log.org.apache.maven.plugin.surefire=info \
  $(if $(AGAIN),-Dsurefire.rerunFailingTestsCount=1) test
CORE := -pl fuse-core
ADAPTER := -Dpgw.skip.core=true

java-test: core-test adapter-mounted-test adapter-test core-fault-test adapter-mounted-fault-test adapter-fault-test

core-test: $(BUILT)
	@echo "==> testing fuse-core"
	@$(MVN_TEST) $(CORE) -Dpgw.tests.not='$(FAULT_TESTS)' $(ARGS)

adapter-mounted-test: $(BUILT)
	@echo "==> testing mounts of alluxio-adapter"
	@$(MVN_TEST) $(ADAPTER) -Dpgw.tests='$(MOUNTED_TESTS)' -Dpgw.tests.not='$(FAULT_TESTS)' $(ARGS)

adapter-test: $(BUILT)
	@echo "==> testing the other parts of alluxio-adapter, and its programs"
	@.ci/in-memory -Dpgw.test.tmp= env $(MVN_TEST) $(ADAPTER) -Dpgw.tests.not='$(FAULT_TESTS),$(MOUNTED_TESTS)' $(ARGS)

core-fault-test: $(BUILT)
	@echo "==> testing takeovers of fuse-core"
	@$(MVN_TEST) $(CORE) -Dpgw.tests='$(FAULT_TESTS)' $(ARGS)

adapter-mounted-fault-test: $(BUILT)
	@echo "==> testing faults of Alluxio under mounts of alluxio-adapter"
	@$(MVN_TEST) $(ADAPTER) -Dpgw.tests='$(MOUNTED_FAULT_TESTS)' $(ARGS)

adapter-fault-test: $(BUILT)
	@echo "==> testing faults and takeovers of the service of alluxio-adapter"
	@$(MVN_TEST) $(ADAPTER) -Dpgw.tests='$(FAULT_TESTS)' -Dpgw.tests.not='$(MOUNTED_FAULT_TESTS)' $(ARGS)

native-test:
	@echo "==> testing the native library: plainly, under ASan and UBSan, under TSan"
	@$(AGAIN) $(MAKE) -s -k -C fuse-core/src/main/c check

# The bypass protocol at both ends and the memory of a kept session, fuzzed under ASan and UBSan (FUZZ_SECONDS=60 each).
native-fuzz:
	@$(MAKE) -s -C fuse-core/src/main/c fuzz

# FUSE requests, and each kind of file in a volume's folder, with changed bytes (FUZZ_SECONDS=60 each; 13 of them).
java-fuzz: java-build
	@$(MVN) -Dquick test -Dtest='MalformedRequestTest,RecordsFuzzTest,KeeperResponseFuzzTest' -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.fuzz.seconds=$(or $(FUZZ_SECONDS),60)

# The conformance suite with the native library under ASan, UBSan and TSan, on the JVM.
sanitized: java-build
	@fuse-core/src/test/sanitized address
	@fuse-core/src/test/sanitized thread

test-only: java-build ## Run one Java test class: make test-only TEST=DemoIT
	@test -n "$(TEST)" || { echo "give the test: make test-only TEST=DemoIT"; exit 2; }
	@$(MVN_TEST) -Dtest=$(TEST) -Dsurefire.failIfNoSpecifiedTests=false $(ARGS)

flaky: $(if $(TEST),$(if $(filter go:%,$(TEST)),,java-build)) ## Repeat one test beside busy loops (TEST=CachesIT or 'go:./internal/keeper -run …', TIMES=50 KEEP_GOING=1)
	@.ci/flaky.py --times $(or $(TIMES),50) $(if $(KEEP_GOING),--keep-going) $(if $(filter 0,$(LOAD)),--loops 0) '$(TEST)' $(ARGS)

coverage: build ## Measure the branch coverage of the Java tests by module (JaCoCo: target/site/jacoco of each)
	@rm -f target/jacoco.exec
	@$(MVN) -Dquick -Pcoverage -Dmaven.test.failure.ignore=true test $(ARGS)
	@$(MVN) -Dquick -Pcoverage jacoco:report
	@.ci/coverage fuse-core alluxio-adapter

# Gateway and keeper killed, upgraded and replaced under load; every byte checked (KILLS=20 READERS=8 WRITERS=2 TRIALS=kill,upgrade
# TRANSPORTS=devfuse,uring APART=1000, ms between two kills).
TRIALS ?= kill kill-while-master-stands kill-one-waiting kill-successor upgrade keeper keeper-killed keeper-then-gateway gateway-then-keeper

fault: build
	@$(MVN) -Dquick test -Dtest='OpenFilesFaultTest,AlluxioAwayFaultTest,TakeoverFaultTest' \
	  -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.kills=$(or $(KILLS),20) -Dpgw.readers=$(or $(READERS),8) \
	  -Dpgw.writers=$(or $(WRITERS),2) -Dpgw.trials=$(call list,$(TRIALS)) -Dpgw.apart=$(or $(APART),1000) \
	  -Dpgw.transports=$(or $(TRANSPORTS),devfuse$(comma)uring) $(ARGS)
	@echo "==> the same as JSON: alluxio-adapter/target/fault/*.json"

# To earlier versions and back, by plan and by kills, under writers whose files stay open (COMMITS='30d27dac …', built once in the
# cache, or VERSIONS=built trees; TURNS=2).
COMMITS ?= 30d27dac 076605e3 789fac56

.PHONY: versions
versions: build
	@versions=$(or $(VERSIONS),$$(.ci/versions $(COMMITS))) && \
	  $(MVN) -Dquick test -Dpgw.skip.core=true -Dtest=VersionsFaultTest -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.versions="$$versions" -Dpgw.rounds=$(or $(TURNS),2) $(ARGS)
	@echo "==> the same as JSON: alluxio-adapter/target/fault/versions-*.json"

# Three masters: the leader killed or stopped, and the gateway killed meanwhile, under load (TURNS=2 READERS=8 WRITERS=2).
.PHONY: masters
masters: build
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dtest='MasterFailoverFaultTest,LeaderLossFaultTest' \
	  -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.masters.long=true -Dpgw.rounds=$(or $(TURNS),2) \
	  -Dpgw.readers=$(or $(READERS),8) -Dpgw.writers=$(or $(WRITERS),2) $(ARGS)
	@echo "==> the same as JSON: alluxio-adapter/target/fault/masters-*.json"

# What administrators change in Alluxio under a mount: mount points, what is cached, and workers.
.PHONY: clusters
clusters: build
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dtest=ClusterAdministrationIT -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.clusters.long=true $(ARGS)

# The native library, the file system in memory and takeovers on Linux 5.10, 6.1 and 6.12 in user mode, about 5 min each; the
# kernels are downloaded once (KERNELS='6.1 6.12', KILLS=5).
.PHONY: old-kernels
old-kernels: build
	@$(MAKE) -s -C fuse-core/src/main/c tests
	@fuse-core/src/test/kernels/old_kernels.py --kills $(or $(KILLS),5) $(KERNELS)

LONG := fault masters clusters versions old-kernels simulation stress stress-alluxio coherence jcstress nothing-moves s3-test hdfs-test sanitized bypass-test-long csi-test-long csi-kill-test csi-fuzz native-fuzz java-fuzz

long: ## Run one of the long tests: TEST=fault, masters, versions, old-kernels, simulation, stress, stress-alluxio, coherence, jcstress, s3-test, hdfs-test…
	@case " $(LONG) " in *" $(TEST) "*) ;; *) echo "TEST='$(TEST)': give one of $(LONG)"; exit 2 ;; esac
	@$(MAKE) -s --no-print-directory $(TEST) TEST=

mutants: ## Check which of the known faults in .ci/mutants the tests catch; see .ci/mutants.py --help (ONLY=03,07 TESTS=all)
	@python3 -u .ci/mutants.py --only '$(ONLY)' --tests '$(TESTS)' --commit '$(or $(COMMIT),HEAD)' $(ARGS)

# What the Java side of a request costs, by JMH: time and bytes on the heap (MILLIS=300).
bench-requests:
	@$(MVN) -Dquick test -pl fuse-core -Dtest=HitBenchTest -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.jmh.millis=$(or $(MILLIS),300) $(ARGS)

# From the start of a gateway to the first request it serves (ROUNDS=20).
bench-start: build
	@$(MVN) -Dquick test -Dtest=StartBench -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.rounds=$(or $(ROUNDS),20) $(ARGS)

# Mounts and an Alluxio in memory, killed at any boundary between two calls: of each change, and by seeds nobody chose (STEPS=1000000;
# SEED=N repeats one; ARGS=-Dpgw.sim.replace=in-place writes over objects).
.PHONY: simulation
simulation: java-build
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dtest=$(if $(SEED),,KilledChangeTest$(comma))SimulationTest -Dpgw.killed.all=true -Dsurefire.failIfNoSpecifiedTests=false \
	  $(if $(SEED),-Dpgw.sim.seed=$(SEED),-Dpgw.sim.steps=$(or $(STEPS),1000000)) $(ARGS)

# Random operations on open files and names against models, over Alluxio (SECONDS=600).
stress-alluxio: build
	@$(MVN) -Dquick test -Dtest=WriteStressIT -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.stress.seconds=$(or $(SECONDS),600) $(ARGS)
	@echo "==> the same as JSON: alluxio-adapter/target/fault/stress.json"

# Those of writing, renaming, recovery and takeover that find what they stored in any under file system.
STORE_TESTS := MasterLossIT AlluxioConformanceIT io.posixgateway.alluxio.mounted.CoherenceIT NothingMovesIT WriteIT CommitFaultTest \
  HeldCommitFaultTest MasterAndWorkerLossFaultTest DirtyFileTakeoverFaultTest OpenFilesFaultTest io.posixgateway.alluxio.gateway.TakeoverFaultTest
# A change of the requests that operations cost is written into docs/semantics.md by make s3-test TEST=S3CallsIT ARGS=-Dpgw.docs.write=true.
S3_TESTS := S3IT S3CallsIT S3DiskFullIT S3StoreContractIT S3OverwriteIT S3KilledOverwriteIT $(STORE_TESTS)
HDFS_TESTS := HdfsIT AlluxioStoreContractIT $(STORE_TESTS)

# The conformance suite and what is written, renamed and listed, on Alluxio over a real S3 server (TEST=class,class; of make long:
# CLASSES=; FILES=1000).
s3-test: setup-s3 build
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.under.store=s3 \
	  -Dpgw.s3.files=$(or $(FILES),1000) -Dtest='$(or $(CLASSES),$(TEST),$(call list,$(S3_TESTS)))' $(ARGS)

# The same, and what Alluxio itself does, on a real HDFS (TEST=class,class; of make long: CLASSES=).
.PHONY: hdfs-test
hdfs-test: setup-hdfs build
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.under.store=hdfs \
	  -Dtest='$(or $(CLASSES),$(TEST),$(call list,$(HDFS_TESTS)))' $(ARGS)

# What stat shows of trees of 2,000 files that cp, tar, git and pip made stays (FILES=2000 TRANSPORTS=libfuse,devfuse,uring).
nothing-moves: build
	@$(MVN) -Dquick test -Dtest=NothingMovesIT -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.nothing.moves.files=$(or $(FILES),2000) -Dpgw.transports=$(or $(TRANSPORTS),libfuse$(comma)devfuse$(comma)uring) $(ARGS)

# What it is given besides -m: see alluxio-adapter/stress/pom.xml, which holds the short form.
JCSTRESS := $(SHORT_MVN) -f alluxio-adapter/stress/pom.xml test

# Races of the concurrent parts, by jcstress, in every mode of compilation (MODE=default|tough).
jcstress: java-build
	@$(JCSTRESS) -Dpgw.jcstress='-m $(or $(MODE),default)' $(ARGS)

jcstress-short: $(BUILT)
	@echo "==> testing the races of the concurrent parts, in short"
	@$(JCSTRESS)

# Programs with the bypass library, PyTorch's loaders among them.
bypass-test-long: setup-train build
	@$(MVN) -Dquick test -Dtest='BypassIT,BypassFaultTest' -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.bypass.long=true $(ARGS)

# What one process writes others on the mount read: ten minutes, and followed files, on each transport (SECONDS=600 FOLLOWED=2000).
coherence: build
	@$(MVN) -Dquick test -pl fuse-core -Dtest=CoherenceIT -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.stress.seconds=$(or $(SECONDS),600) -Dpgw.followed=$(or $(FOLLOWED),2000) $(ARGS)
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dtest=CoherenceIT -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.stress.seconds=$(or $(SECONDS),600) -Dpgw.followed=$(or $(FOLLOWED),300) $(ARGS)

# Ten minutes of random work on each transport, compared with a model (SECONDS=600).
stress: java-build
	@$(MVN) -Dquick test -pl fuse-core -am -Dtest='StressIT' -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.stress.seconds=$(or $(SECONDS),600) $(ARGS)

BENCH := alluxio-adapter/bench

ALLUXIO_BENCHES := alluxio workers figure15 train shapes scaling s3 latency bypass

bench: ## Run benchmarks: all (hours), or TEST=core, alluxio, figure15, train, shapes, memory, fairness, s3, requests, start… (ARGS=--quick)
	@$(MAKE) -s --no-print-directory bench-$(or $(TEST),all)

# Continues where it was stopped (ARGS=--minutes 5), and writes docs/benchmarks.md in the end.
bench-all: bench-peers
	@$(VENV)/python $(BENCH)/bench.py $(ARGS)

$(addprefix bench-,$(ALLUXIO_BENCHES)): bench-peers
	@$(VENV)/python $(BENCH)/bench_alluxio.py --group $(@:bench-%=%) $(ARGS)

# Memory of a gateway with the chart's limit: 1, 10 and 50 volumes, idle, with their files known, and under 64 readers (SECONDS=60, or
# 900; FILES=20000 of each volume).
bench-memory: build
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dtest=VolumesBench -Dsurefire.failIfNoSpecifiedTests=false \
	  -Dpgw.seconds=$(or $(SECONDS),60) -Dpgw.files=$(or $(FILES),20000) $(ARGS)

# What 64 readers of one volume that wait for a slow worker cost the reader of another (ROUNDS=10).
bench-fairness: build
	@$(MAKE) -s -C $(BENCH) target/delay
	@$(MVN) -Dquick test -Dpgw.skip.core=true -Dtest=FairnessBench -Dsurefire.failIfNoSpecifiedTests=false -Dpgw.rounds=$(or $(ROUNDS),10) $(ARGS)

bench-peers: setup setup-train build
	@echo "==> building the loads, the floors and the peers"
	@$(MAKE) -s -C fuse-core/bench/c
	@$(MAKE) -s -C $(BENCH)
	@$(MVN) -Dquick -f fuse-core/bench/pom.xml package
	@$(MVN) -Dquick -f $(BENCH)/pom.xml package

bench-core: bench-peers
	@$(VENV)/python fuse-core/bench/bench_core.py $(ARGS)

bench-s3: setup-s3

# One archive of the benchmarks, for a machine without Java or network (PACKAGE=path.tar.gz).
bench-package: bench-peers
	@$(VENV)/python $(BENCH)/pack.py $(or $(PACKAGE),$(BENCH)/target/posix-gateway-bench.tar.gz)

# Two result files of a benchmark: make bench-compare A=old.json B=new.json.
bench-compare:
	@$(VENV)/python $(BENCH)/results.py compare $(A) $(B)

bench-check:
	@echo "==> checking that the docs tell what the benchmarks measured"
	@cd $(BENCH) && $(VENV)/python -m unittest -q test_bench test_delays && $(VENV)/python publish.py --check

check: setup ## Run formatters, linters and static analysis; no findings allowed
	@$(LANES) check java=java-check,versions-check other=$(call list,$(CHECK_TARGETS))

java-check:
	@echo "==> checking Java: Spotless, Checkstyle, Error Prone, NullAway"
	@$(MVN) spotless:check checkstyle:check
	@$(MVN) -f alluxio-adapter/stress/pom.xml spotless:check checkstyle:check
	@$(MAKE) -s --no-print-directory target/strict

# The strict compiler makes all classes anew, once for these sources, and packages them: a build then has nothing to compile.
# Not beside tests.
target/strict: pom.xml fuse-core/pom.xml alluxio-adapter/pom.xml $(CLIENT)/pom.xml $(shell find fuse-core/src alluxio-adapter/src -name '*.java' -o -name '*.proto')
	@rm -rf {fuse-core,alluxio-adapter}/target/{classes,test-classes}
	@$(FRESH_JARS)
	@$(MVN) -DskipTests package
	@mkdir -p $(@D) && touch $@

# After java-check, which packages. A scanner that knows what was published today: make vuln, where the network has Go's database.
versions-check:
	@echo "==> comparing jars and Go modules with the least versions without advisories"
	@cd .ci && python3 -B -m unittest -q least_versions_test
	@python3 -B .ci/least_versions.py

native-check:
	@echo "==> checking C: clang-format, clang-tidy"
	@PATH="$(VENV):$$PATH" .ci/check-native

style-check:
	@echo "==> checking sizes, shell, Python, paths"
	@PATH="$(VENV):$$PATH" .ci/check-style

docs-check:
	@echo "==> checking the docs"
	@.ci/proofs.py
	@.ci/docs.py
	@cd .ci && python3 -B -m unittest -q docs_test
	@$(VENV)/codespell README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/design/*.md {csi,e2e,fuse-core,charts/posix-gateway}/README.md csi/docs/*.md

fmt: setup ## Format all sources
	@$(MVN) spotless:apply
	@$(MVN) -f alluxio-adapter/stress/pom.xml spotless:apply
	@PATH="$(VENV):$$PATH" .ci/check-native --fix
	@PATH="$(VENV):$$PATH" ruff format -q .
	@! command -v gofmt >/dev/null || gofmt -w csi

pre-pr: fmt check test ## Run everything needed before a pull request

docs: java-build ## Generate the tables and pages of docs/ that come from the source
	@bin/posix-gateway generate-docs docs csi/internal/attributes/options.tsv
	@.ci/proofs.py --write

clean: ## Remove build results
	@$(MVN) clean
	@$(MVN) -f alluxio-adapter/stress/pom.xml clean
	@$(MVN) -f alluxio-adapter/hdfs-server/pom.xml clean
	@rm -rf bin csi/bin
