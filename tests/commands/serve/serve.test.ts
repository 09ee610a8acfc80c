import { describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachTest } from '../../support/each-test.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { runProgram, VAULT } from '../../support/run.ts';
import { until } from '../../support/until.ts';

const { folder, ends } = eachTest();

async function start(vars: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Promise<Program> {
  const program = await startProgram(vars, { cwd: folder.path, args });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

/** Longer than any test. */
const NEVER_MS = 3_600_000;

/** A mail service that takes its time. */
function startSlowMail(answerAfterMs: number) {
  const called = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch() {
      called.resolve();
      await Bun.sleep(answerAfterMs);
      return Response.json({ id: 'mail' });
    },
  });
  ends.push(() => server.stop(true));
  const vars = {
    EMAIL_PROVIDER: 'resend',
    EMAIL_FROM: 'a@example.com',
    RESEND_API_KEY: 're_1',
    RESEND_API_URL: `http://127.0.0.1:${server.port}`,
  };
  return { vars, called: called.promise };
}

function sendCode(program: Program, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(`${program.url}/api/verify/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ identifier: 'alice@example.com', channel: 'email' }),
  });
}

describe('a first start', () => {
  test('needs no settings, makes its keys for its owner alone and says where it is and what is on default', async () => {
    const program = await start();
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
    const dir = join(folder.path, 'vault-data');
    for (const name of ['vault.secret', 'operator.secret', 'vault.db']) {
      expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const entry = JSON.parse(
      program
        .output()
        .split('\n')
        .find((line) => line.includes('"listening"')) ?? '',
    );
    expect(entry).toMatchObject({ url: program.url, data: join(dir, 'vault.db'), chain: 'Base Sepolia (84532)' });
    expect(Object.keys(entry.defaults)).toEqual(['EMAIL_PROVIDER', 'SMS_PROVIDER', 'RPC_URL', 'BASE_URL']);
    expect(entry.next).toContain('vault help settings');
    expect(program.output()).not.toContain(readFileSync(join(dir, 'vault.secret'), 'utf8').trim());
  });

  test('says it in words where somebody reads', async () => {
    const program = await start({ LOG_FORMAT: 'pretty' });
    await program.stop();
    for (const said of [
      'is listening on http://127.0.0.1:',
      'vault.db',
      '/console, sign in with the secret in /',
      'vault-data/operator.secret',
      'set EMAIL_PROVIDER',
      'public endpoint',
      'vault help settings',
    ]) {
      expect(program.output()).toContain(said);
    }
    const secret = readFileSync(join(folder.path, 'vault-data/operator.secret'), 'utf8').trim();
    expect(program.output()).not.toContain(secret);
    const ours = '0123456789abcdef'.repeat(4);
    const own = await start({ LOG_FORMAT: 'pretty', OPERATOR_SECRET: ours });
    await own.stop();
    expect(own.output()).toContain('/console, sign in with your OPERATOR_SECRET');
    expect(own.output()).not.toContain(ours);
  });

  test('derives its origin from the free port that PORT=0 found', async () => {
    const program = await start({ LOG_LEVEL: 'error' });
    const { port } = new URL(program.url);
    expect(program.output()).toContain(`"baseUrl":"http://localhost:${port}"`);
  });

  test('agrees with another one at the same moment on the same keys', async () => {
    const programs = await Promise.all([start(), start(), start()]);
    expect(readdirSync(join(folder.path, 'vault-data')).filter((name) => name.includes('secret'))).toHaveLength(2);
    const statuses = await Promise.all(programs.map(({ url }) => fetch(`${url}/readyz`).then(({ status }) => status)));
    expect(statuses).toEqual([200, 200, 200]);
  });

  test('keeps the keys of the one before', async () => {
    const keys = () => readFileSync(join(folder.path, 'vault-data/vault.secret'), 'utf8');
    expect(await (await start()).stop()).toBe(0);
    const before = keys();
    expect(await (await start()).stop()).toBe(0);
    expect(keys()).toBe(before);
  });
});

describe('a start that cannot be', () => {
  test('names every faulty setting at once and no value, and ends with 2 having made nothing', async () => {
    const vars = { PORT: 'hunter2', VAULT_SECRET: 'hunter2', BASE_URL: 'https://vault.example.com' };
    const { code, out, err } = await runProgram(['serve'], { cwd: folder.path, vars });
    expect([code, out]).toEqual([2, '']);
    for (const name of ['PORT', 'VAULT_SECRET', 'TRUSTED_PROXIES', 'EMAIL_PROVIDER', 'SMS_PROVIDER']) {
      expect(err).toMatch(new RegExp(`^ {2}${name} must`, 'm'));
    }
    expect(err).not.toContain('hunter2');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('ends with 2 and names the nearest flag for one that is unknown', async () => {
    const { code, err } = await runProgram(['--prot', '1'], { cwd: folder.path });
    expect([code, err]).toEqual([2, 'vault: Unknown flag --prot: did you mean --port? Try vault --help.\n']);
  });

  test('ends with 1 and one line when the port is taken', async () => {
    const { port } = new URL((await start()).url);
    const { code, err } = await runProgram(['serve', '--port', port], { cwd: folder.path });
    expect([code, err.split('\n').length]).toEqual([1, 2]);
    expect(err).toContain(`port ${port} on 127.0.0.1 is in use`);
  });

  test('ends with 1 and one line when the data directory cannot be one', async () => {
    writeFileSync(join(folder.path, 'vault-data'), '');
    const { code, err } = await runProgram(['serve', '--port', '0'], { cwd: folder.path });
    expect([code, err.split('\n').length]).toEqual([1, 2]);
    expect(err).toContain('DATA_DIR');
  });

  test('ends with 1 and one line when the database cannot be opened', async () => {
    mkdirSync(join(folder.path, 'vault-data/vault.db'), { recursive: true });
    const { code, err } = await runProgram(['serve', '--port', '0'], { cwd: folder.path });
    expect([code, err.split('\n').length]).toEqual([1, 2]);
    expect(err).toContain('vault.db');
  });

  test('with a mail server URL that cannot be used ends with 2', async () => {
    const vars = {
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'a@example.com',
      SMTP_URL: 'smtp://user:hunter2@mail.example.com/x',
    };
    const { code, err } = await runProgram(['serve', '--port', '0'], { cwd: folder.path, vars });
    expect(code).toBe(2);
    expect(err).toContain('SMTP_URL');
    expect(err).not.toContain('hunter2');
  });
});

describe('a stop', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('by %s ends with 0', async (signal) => {
    const program = await start();
    expect(await program.stop(signal)).toBe(0);
    expect(program.output()).toContain('"stopped"');
  });

  test('under load breaks no answer that was begun', async () => {
    const program = await start({ RATE_LIMIT_READS_PER_IP: '1000000' });
    const statuses = new Map<number, number>();
    let stopping = false;
    const client = async () => {
      for (;;) {
        // A connection of its own for each request: a refused one was never taken.
        const init = { headers: { connection: 'close' } };
        const response = await fetch(`${program.url}/api/sessions/status`, init).catch((error) => {
          if (!stopping) throw error;
        });
        if (!response) return;
        await response.json();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, client));
    await until('100 requests are answered', () => (statuses.get(200) ?? 0) >= 100);
    stopping = true;
    expect(await program.stop()).toBe(0);
    await clients;
    expect([...statuses.keys()]).toEqual([200]);
    expect(program.output()).not.toContain('"error"');
  });

  test('answers whoever still waits for something slow', async () => {
    const mail = startSlowMail(1_000);
    const program = await start(mail.vars);
    const answer = sendCode(program);
    await mail.called;
    const stopped = program.stop();
    expect((await answer).status).toBe(200);
    expect(await stopped).toBe(0);
  });

  test('does not wait for ever, and still answers, with the headers of every response', async () => {
    const mail = startSlowMail(NEVER_MS);
    const program = await start(mail.vars);
    const usual = await fetch(`${program.url}/nothing`);
    const answer = sendCode(program, { 'X-Request-Id': 'mine' });
    await mail.called;
    const stopped = program.stop();
    const late = await answer;
    expect([late.status, ((await late.json()) as { error: string }).error]).toEqual([503, 'shutting_down']);
    expect([late.headers.get('x-request-id'), late.headers.get('retry-after')]).toEqual(['mine', '5']);
    const own = ['date', 'content-length', 'x-request-id'];
    for (const [name, value] of usual.headers)
      if (!own.includes(name)) expect([name, late.headers.get(name)]).toEqual([name, value]);
    expect(await stopped).toBe(0);
  });

  test('is at once at the second signal', async () => {
    const mail = startSlowMail(NEVER_MS);
    const program = await start(mail.vars);
    const answer = sendCode(program).catch(() => undefined);
    await mail.called;
    process.kill(program.pid, 'SIGTERM');
    await until('the stop begins', () => program.output().includes('"stopping"'));
    expect(await program.stop()).toBe(1);
    expect(await answer).toBeUndefined();
  });

  test('is followed during the start too', async () => {
    const asked = Promise.withResolvers<void>();
    const database = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch() {
        asked.resolve();
        return new Promise<Response>(() => {});
      },
    });
    const keys = { VAULT_SECRET: '0123456789abcdef'.repeat(4), OPERATOR_SECRET: 'fedcba9876543210'.repeat(4) };
    const child = Bun.spawn([...VAULT], {
      cwd: folder.path,
      env: { ...keys, PORT: '0', DATABASE_URL: `http://127.0.0.1:${database.port}` },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    await asked.promise;
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    await database.stop(true);
  });
});
