import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from '../../lib/base/metric-catalogue.ts';
import { dashboardText } from '../../scripts/dashboard.ts';
import { temporaryFolder } from '../support/databases.ts';
import { readExposition } from '../support/exposition.ts';
import { startProgram } from '../support/program.ts';
import { familyFaults } from '../support/promql.ts';
import { programAt } from '../support/proxies.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const promtool = programAt('promtool');
const folder = temporaryFolder();
afterAll(folder.remove);

interface Dashboard {
  readonly panels: {
    readonly id: number;
    readonly title: string;
    readonly type: string;
    readonly description?: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: { readonly expr: string }[];
  }[];
  readonly annotations: { readonly list: { readonly expr: string }[] };
}

const text = readFileSync(join(import.meta.dir, '../../packaging/grafana.json'), 'utf8');
const { panels, annotations } = JSON.parse(text) as Dashboard;
const expressions = [...panels.flatMap(({ targets = [] }) => targets), ...annotations.list].map(({ expr }) => expr);

describe('the dashboard', () => {
  test('is what `bun scripts/dashboard.ts` writes', () => {
    expect(JSON.parse(text)).toEqual(JSON.parse(dashboardText()));
  });

  test('has panels that do not overlap, each with its own id', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test('says of each panel what its numbers are, and of each family what the catalogue says', () => {
    const drawn = panels.filter(({ type }) => type !== 'row');
    expect(drawn.filter(({ description = '' }) => description === '').map(({ title }) => title)).toEqual([]);
    const sent = drawn.find(({ title }) => title === 'Codes sent');
    expect(sent?.description).toBe(METRICS.vault_codes_sent_total.help);
  });

  test.each(expressions)('asks for families and labels that /metrics has: %s', (expression) => {
    expect(familyFaults(expression)).toEqual([]);
  });
});

test('what a real vault says at /metrics has the families and labels of the catalogue', async () => {
  const vars = { VAULT_SECRET, FOLLOWER: 'false', DATA_DIR: folder.path };
  const vault = await startProgram(vars, { cwd: folder.path });
  try {
    const body = JSON.stringify({ identifier: 'ada@example.com', channel: 'email' });
    const headers = { 'Content-Type': 'application/json' };
    expect((await fetch(`${vault.url}/api/verify/send`, { method: 'POST', headers, body })).status).toBe(200);
    const { families } = readExposition(await (await fetch(`${vault.url}/metrics`)).text());
    expect(families.length).toBeGreaterThan(20);
    for (const { name, type, samples } of families) {
      const known: { type: string; labels: readonly string[] } = METRICS[name as keyof typeof METRICS];
      expect([name, type]).toEqual([name, known?.type]);
      for (const { labels } of samples)
        expect([name, Object.keys(labels).filter((label) => label !== 'le')]).toEqual([name, [...known.labels]]);
    }
  } finally {
    await vault.stop('SIGKILL');
  }
});

test.skipIf(!promtool)('promtool parses each expression', () => {
  const rules = expressions.map((expr, i) => ({
    record: `panel:${i}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'vault').replaceAll('$instance', '.*'),
  }));
  const path = join(folder.path, 'panels.json');
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? '', 'check', 'rules', path]);
  expect([exitCode, exitCode === 0 ? '' : stderr.toString()]).toEqual([0, '']);
  expect(stdout.toString()).toContain(`${expressions.length} rules found`);
});
