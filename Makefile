# Every target installs what is missing first. `make` alone lists the targets.
.DEFAULT_GOAL := help
.PHONY: help run dashboard binary screenshots browser-widths test test-live chaos soak bench bench-quick bench-scale check fmt install

BUN := node_modules/.bin/bun

# Debian's packages with what the tests of each part start, besides what every Debian has.
unit_needs := postgresql redis-server procps python3
e2e_needs := postgresql redis-server procps nginx pgbouncer prometheus curl
browser_needs := chromium-headless-shell

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

# The load generator's core, and as many connections as the system allows: 1,000 calls at once need more than its default.
bench_with := ulimit -n $$(ulimit -Hn) && exec taskset -c 1 env BUN_CONFIG_MAX_HTTP_REQUESTS=65535 $(BUN)

run: dashboard ## serve on 127.0.0.1:4000 with the sandbox provider; data in ./data
	@exec $(BUN) src/main.ts serve --sandbox

dashboard: node_modules/.installed ## bundle the pages into dist/dashboard, where they are not up to date
	@$(BUN) scripts/build-dashboard.ts --if-stale

test: dashboard ## every check and every test (a part of it: ONLY=checks, unit, e2e or browser)
	@scripts/require-programs.sh $(sort $(foreach part,$(or $(ONLY),unit e2e browser),$($(part)_needs)))
	@exec $(BUN) scripts/test.ts $(if $(ONLY),--only $(ONLY))

screenshots: dashboard ## pictures of every page, light and dark; writes docs/screenshots/
	@scripts/require-programs.sh chromium-headless-shell pngquant && exec $(BUN) test/screenshots/take-screenshots.ts

browser-widths: dashboard ## what keeps people's work safe in the dashboard, in Chromium at 1440, 1024 and 390 px
	@scripts/require-programs.sh chromium-headless-shell && for width in 1440 1024 390; do \
	  GATEHOUSE_TEST_WIDTH=$$width $(BUN) test --isolate --timeout=180000 ./test/browser/traps.test.ts ./test/browser/charts.test.ts || exit 1; \
	done

test-live: node_modules/.installed ## tests against the real providers whose keys are in the environment
	@exec $(BUN) scripts/test.ts --only live

chaos: dashboard ## every test that has a long form, in it, with figures: twenty minutes
	@scripts/require-programs.sh postgresql redis-server procps nginx chromium-headless-shell && exec env GATEHOUSE_CHAOS=long $(BUN) test --isolate --timeout=1800000 $$(grep -rlE 'chaos-form|property-runs|page-lists' --include='*.test.ts' ./test ./src)

soak: node_modules/.installed ## three nodes at a steady load for half an hour: does anything grow? MINUTES=30 RATE=60
	@scripts/require-programs.sh postgresql procps redis-server && exec $(BUN) test/chaos/soak.ts --minutes $(or $(MINUTES),30) --rate $(or $(RATE),60)

bench: dashboard ## measure beside nginx, LiteLLM and Portkey in one run; writes docs/benchmarks.md
	@scripts/require-programs.sh nginx wrk && $(bench_with) bench/main.ts

bench-quick: dashboard ## the same in five minutes, compared with the stored figures
	@scripts/require-programs.sh nginx wrk && $(bench_with) bench/main.ts --quick

bench-scale: dashboard ## what must not grow with what is stored, at two sizes on both stores: ONLY="clean-up old-calls" STORE=sqlite QUICK=1
	@scripts/require-programs.sh postgresql && exec $(BUN) bench/scale.ts $(ONLY:%=--only %) $(if $(STORE),--store $(STORE)) $(if $(QUICK),--quick)

binary: dashboard ## one program with everything inside: dist/gatehouse
	@exec $(BUN) scripts/build-binary.ts

check: node_modules/.installed ## types, style, layers, unused code, generated text
	@exec $(BUN) scripts/check.ts

fmt: node_modules/.installed ## format the code, fix what can be fixed, renew generated text
	@node_modules/.bin/biome check --write
	@$(BUN) scripts/docs.ts

install: node_modules/.installed ## install the packages, nothing else

node_modules/.installed: package-lock.json
	@scripts/install.sh
