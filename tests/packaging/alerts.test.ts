import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, type Metric, type MetricName } from '../../lib/base/metric-catalogue.ts';
import { temporaryFolder } from '../support/databases.ts';
import { readExposition } from '../support/exposition.ts';
import { startProgram } from '../support/program.ts';
import { countersIn, familyFaults } from '../support/promql.ts';
import { programAt } from '../support/proxies.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { asScraped, at, CASES, HEALTHY, NO_TARGET, type Series, WITHOUT_BACKUP } from './alert-cases.ts';

const ROOT = join(import.meta.dir, '../..');
const FILE = join(ROOT, 'packaging/alerts.yml');
const promtool = programAt('promtool');
const folder = temporaryFolder();
afterAll(folder.remove);

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}
const { groups } = Bun.YAML.parse(readFileSync(FILE, 'utf8')) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** What a vault says that has done nothing yet. */
let fresh: ReturnType<typeof readExposition>['families'];
beforeAll(async () => {
  const vars = { VAULT_SECRET, FOLLOWER: 'false', DATA_DIR: folder.path };
  const vault = await startProgram(vars, { cwd: folder.path });
  fresh = readExposition(await (await fetch(`${vault.url}/metrics`)).text()).families;
  await vault.stop('SIGKILL');
});

/** Whether some values of its labels come from settings, routes or statements, so that no series can be there before. */
const hasOpenLabels = (name: string) => {
  const family = name.replace(/_(?:bucket|count|sum)$/, '');
  const { labels, values }: Metric = METRICS[(name in METRICS ? name : family) as MetricName];
  return labels.length > 0 && values === undefined;
};

describe('each alert', () => {
  test('has a case of its own below', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(CASES));
  });

  test.each(rules)('$alert asks for families and labels that /metrics has', ({ expr }) => {
    expect(familyFaults(expr)).toEqual([]);
  });

  test.each(rules)('$alert counts from 0: a series that begins at 1 has no increase', ({ expr }) => {
    const isAtOnce = /> 0\b(?!\.| *[*+])/.test(expr);
    const samples = fresh.flatMap((family) => family.samples);
    const missing = countersIn(expr)
      .filter(({ name, isMeant }) => !samples.some((one) => one.name === name && isMeant(one.labels)))
      .filter(({ name }) => isAtOnce || !hasOpenLabels(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  test('leads to its entry in the runbook, which has no others', () => {
    const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
    const entries = Array.from(runbook.matchAll(/^### (.+)$/gm), ([, name]) => name);
    expect(entries).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
      expect(['warning', 'critical']).toContain(labels.severity);
      const entry = runbook.split(`### ${alert}\n`)[1]?.split(/^##/m)[0] ?? '';
      expect([alert, entry.includes('**Look**'), entry.includes('**Mend**')]).toEqual([alert, true, true]);
    }
  });

  test('a fault in an expression is found', () => {
    expect(familyFaults('rate(vault_nothing_total{route="a"}[5m])')).toEqual(['vault_nothing_total is no family']);
    expect(familyFaults('sum by (sort) (vault_streams{kind="a"})')).toEqual([
      'vault_streams has no label kind',
      'no family here has the label sort',
    ]);
    expect(Object.keys(METRICS).length).toBeGreaterThan(0);
  });
});

test.skipIf(!promtool)('promtool takes the rules', () => {
  const { exitCode, stdout } = Bun.spawnSync([promtool ?? '', 'check', 'rules', FILE]);
  expect([exitCode, stdout.toString()]).toEqual([0, expect.stringContaining(`${rules.length} rules found`)]);
});

test.skipIf(!promtool)("promtool's tests: a healthy vault fires nothing, and each trouble its own alert alone", () => {
  const zeros = fresh
    .filter(({ type, name }) => type === 'counter' && rules.some(({ expr }) => expr.includes(name)))
    .flatMap(({ samples }) => samples)
    .map(({ name, labels }) =>
      at(
        name,
        Object.entries(labels)
          .map(([label, value]) => `${label}="${value}"`)
          .join(),
      ),
    );
  const isThere = (series: string) => zeros.includes(series) || !/_(?:total|bucket|count)\{/.test(series);
  const scraped = (all: Series) =>
    Object.entries({ ...Object.fromEntries(zeros.map((one) => [one, '0+0x90'])), ...all }).map(
      ([series, values]) => [series, isThere(series) ? values : asScraped(values)] as const,
    );
  const cases = Object.entries(CASES).map(([alert, { series, with: others = [] }]) => ({
    name: alert,
    series: { ...HEALTHY, ...series },
    fires: [alert, ...others],
  }));
  const others = [
    { name: 'healthy', series: HEALTHY, fires: [] },
    { name: 'no target', series: NO_TARGET, fires: ['VaultDown'] },
    { name: 'no backup in the first hour', series: { ...HEALTHY, ...WITHOUT_BACKUP }, fires: [] },
    { name: 'no backup for a day', series: WITHOUT_BACKUP, fires: ['VaultBackupOld'], minutes: 1_455 },
  ];
  const tests = [...others, ...cases].map((one) => testOf({ ...one, series: scraped(one.series) }));
  const path = join(folder.path, 'test.json');
  writeFileSync(path, JSON.stringify({ rule_files: [FILE], evaluation_interval: '5m', tests }));
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? '', 'test', 'rules', path]);
  expect([exitCode, exitCode === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
});

/** A test of promtool (prometheus.io, "Unit testing for rules"): which alerts fire by then, and no others. */
function testOf({
  name,
  series,
  fires,
  minutes = 60,
}: {
  name: string;
  series: readonly (readonly [string, string])[];
  fires: readonly string[];
  minutes?: number;
}) {
  return {
    name,
    interval: '1m',
    input_series: series.map(([one, values]) => ({ series: one, values })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minutes}m`,
        exp_samples: fires.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  };
}
