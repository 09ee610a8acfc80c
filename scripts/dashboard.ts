// bun scripts/dashboard.ts: writes packaging/grafana.json, the dashboard of docs/runbook.md, from the panels of
// scripts/dashboard-panels.ts; then npm run format.
import { join } from 'node:path';
import { METRICS } from '../lib/base/metric-catalogue.ts';
import { type Panel, ROWS } from './dashboard-panels.ts';

const SOURCE = { type: 'prometheus', uid: '$source' };
const ACROSS = 3;
const WIDTH = 24 / ACROSS;
const HEIGHT = 7;

/** The dashboard as Grafana imports it. */
export function dashboardText(): string {
  const panels: object[] = [];
  let y = 0;
  for (const [title, row] of Object.entries(ROWS)) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: 24, h: 1 },
      panels: [],
    });
    for (const [i, panel] of row.entries()) {
      const place = { x: (i % ACROSS) * WIDTH, y: y + Math.floor(i / ACROSS) * HEIGHT, w: WIDTH, h: HEIGHT };
      panels.push({ id: panels.length + 1, ...panelOf(panel), gridPos: place });
    }
    y += Math.ceil(row.length / ACROSS) * HEIGHT;
  }
  const variable = (name: string, query: string, rest: object) => ({
    name,
    type: 'query',
    datasource: SOURCE,
    query: { query, refId: name },
    refresh: 2,
    ...rest,
  });
  const dashboard = {
    title: 'vault',
    uid: 'vault-identity',
    tags: ['vault'],
    schemaVersion: 38,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'source', type: 'datasource', query: 'prometheus' },
        variable('job', 'label_values(vault_build_info, job)', {}),
        variable('instance', 'label_values(vault_build_info{job="$job"}, instance)', {
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        }),
      ],
    },
    annotations: {
      list: [
        {
          name: 'Starts',
          enable: true,
          datasource: SOURCE,
          expr: 'changes(process_start_time_seconds{job="$job"}[2m]) > 0',
          iconColor: 'blue',
        },
      ],
    },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

/** What the numbers are, by the catalogue's words for the families that the panel asks for. */
function describe({ queries }: Panel): string {
  const names = Object.values(queries).flatMap((query) => query.match(/\b(?:vault|process)_\w+/g) ?? []);
  const families = names.map((name) => name.replace(/_bucket$/, '')) as (keyof typeof METRICS)[];
  const helps = new Set(families.map((name) => METRICS[name].help));
  return helps.size === 0 ? 'Whether Prometheus reaches the vault.' : [...helps].join(' ');
}

function panelOf(panel: Panel): object {
  const { title, unit, queries } = panel;
  const targets = Object.entries(queries).map(([legendFormat, expr], i) => ({
    refId: String.fromCharCode(65 + i),
    datasource: SOURCE,
    expr,
    legendFormat,
  }));
  const defaults =
    unit === 'bool'
      ? { unit: 'short', min: 0, max: 1 }
      : { unit: unit === 'blocks' ? 'short' : unit, min: unit === 's' ? undefined : 0 };
  return {
    type: 'timeseries',
    title,
    description: describe(panel),
    datasource: SOURCE,
    fieldConfig: { defaults, overrides: [] },
    targets,
  };
}

if (import.meta.main) await Bun.write(join(import.meta.dir, '../packaging/grafana.json'), dashboardText());
