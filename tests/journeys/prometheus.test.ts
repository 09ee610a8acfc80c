import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Service, startService } from '../../scripts/dev-stack/service.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until, untilHolds } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const find = (name: string) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`].find(existsSync);
const promtool = find('promtool');
const prometheus = find('prometheus');
const TOKEN = 'scrape-token-0123456789';

/**
 * The part of a scrape configuration that `docs/operating.md` tells operators to write: what is tried is what is told.
 */
const told = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(import.meta.dir, '../../docs/operating.md'), 'utf8'))?.[1];

test.skipIf(!promtool)('promtool finds nothing to say about /metrics while the vault is under load', async () => {
  const folder = temporaryFolder();
  const vault = await startVault(folder.path, {});
  try {
    const load = busy(vault.url, 200);
    const texts: string[] = [];
    for (let i = 0; i < 5; i++) texts.push(await (await fetch(`${vault.url}/metrics`)).text());
    await load;
    texts.push(await (await fetch(`${vault.url}/metrics`)).text());
    for (const text of texts) expect(await lint(promtool ?? '', text)).toEqual({ code: 0, said: '' });
    expect(texts.at(-1)).toContain('process_resident_memory_bytes');
    expect(texts.at(-1)).toContain('vault_http_requests_total{route="/api/status",method="GET",status="200"} 200');
  } finally {
    await vault.stop();
    folder.remove();
  }
});

test.skipIf(!promtool)('promtool is not content with everything', async () => {
  expect((await lint(promtool ?? '', '# TYPE a_total gauge\na_total 1\n')).code).not.toBe(0);
});

describe.skipIf(!prometheus)('a real Prometheus', () => {
  const folder = temporaryFolder();
  let vault: Program;
  let server: Service;
  let url: string;

  beforeAll(async () => {
    const vars = {
      BASE_URL: 'https://vault.example.com',
      ALLOW_LOG_DELIVERY: 'true',
      TRUSTED_PROXIES: '127.0.0.1/32',
    };
    vault = await startVault(folder.path, { ...vars, METRICS_TOKEN: TOKEN });
    server = await startPrometheus(prometheus ?? '', folder.path, new URL(vault.url).host);
    url = `http://127.0.0.1:${server.port}`;
  });
  afterAll(async () => {
    await Promise.all([server.stop(), vault.stop()]);
    folder.remove();
  });

  const query = async (expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> => {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    // biome-ignore lint/suspicious/noExplicitAny: Prometheus' own form.
    return ((await response.json()) as any).data.result;
  };

  test('scrapes OpenMetrics with the token, as docs/operating.md configures it', async () => {
    await until('the vault is up', async () => (await query('up'))[0]?.value[1] === '1');
    const types = await until('the types are known', async () => {
      const metadata = await (await fetch(`${url}/api/v1/targets/metadata?match_target={}`)).json();
      // biome-ignore lint/suspicious/noExplicitAny: Prometheus' own form.
      const rows = (metadata as any).data as { metric: string; type: string; unit: string }[];
      return rows.some(({ metric }) => metric.startsWith('vault_http_requests')) ? rows : undefined;
    });
    // Without `_total` the family is OpenMetrics'; of the text form it would be the name of the samples, and no unit
    // be known.
    expect(types).toContainEqual(expect.objectContaining({ metric: 'vault_http_requests', type: 'counter' }));
    expect(types).toContainEqual(
      expect.objectContaining({ metric: 'vault_http_request_duration_seconds', type: 'histogram', unit: 'seconds' }),
    );
  });

  test('answers queries: a counter by route and status, and a quantile of a histogram', async () => {
    await busy(vault.url, 20);
    const route = 'route="/api/status"';
    const total = await until('20 requests are counted', async () => {
      const [row] = await query(`vault_http_requests_total{${route},method="GET",status="200"}`);
      return row?.value[1] === '20' ? row : undefined;
    });
    expect(total.metric).toMatchObject({ job: 'vault', route: '/api/status', method: 'GET', status: '200' });
    // A scrape that comes too late leaves a gap until the next.
    const bucket = `vault_http_request_duration_seconds_bucket{${route}}`;
    for (const expression of [
      `histogram_quantile(0.95, sum by (le) (${bucket}))`,
      'vault_db_pool_acquire_wait_seconds_count',
    ])
      await untilHolds(async () => expect(Number((await query(expression))[0]?.value[1])).toBeGreaterThan(0));
  });
});

function startVault(dir: string, vars: Readonly<Record<string, string>>): Promise<Program> {
  const secrets = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') };
  return startProgram({ ...secrets, DATA_DIR: dir, RATE_LIMIT_READS_PER_IP: '100000', ...vars }, { cwd: dir });
}

/** Concurrent requests of several kinds: `times` for the status among them. */
async function busy(url: string, times: number): Promise<void> {
  const one = async (n: number) => {
    await fetch(`${url}/api/status`).then((response) => response.text());
    await fetch(`${url}/api/sessions/check?identifier=user${n}@example.com`).then((response) => response.text());
    await fetch(`${url}/nowhere/${n}`, { method: 'DELETE' }).then((response) => response.text());
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ identifier: `user${n}`, channel: 'handle', did: `did:key:z${n}` });
    await fetch(`${url}/api/sessions`, { method: 'POST', headers, body }).then((response) => response.text());
  };
  await Promise.all(Array.from({ length: times }, (_, n) => one(n)));
}

async function lint(program: string, text: string): Promise<{ code: number; said: string }> {
  const child = Bun.spawn([program, 'check', 'metrics'], { stdin: new Blob([text]), stdout: 'pipe', stderr: 'pipe' });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, said: out + err };
}

function startPrometheus(program: string, dir: string, target: string): Promise<Service> {
  const scrape = (told ?? '')
    .replace('127.0.0.1:8790', target)
    .replace('/etc/prometheus/vault-token', join(dir, 'token'));
  writeFileSync(join(dir, 'token'), TOKEN);
  writeFileSync(join(dir, 'prometheus.yml'), `global:\n  scrape_interval: 500ms\n  scrape_timeout: 500ms\n${scrape}`);
  const args = (port: number) => [
    `--config.file=${join(dir, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(dir, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ];
  return startService({
    name: 'Prometheus',
    command: (port) => [program, ...args(port)],
    isUp: async (port) => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
    cwd: dir,
  });
}
