import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInflight } from '../../../commands/serve/inflight.ts';
import { drain, STOP_CLOSE_MS } from '../../../commands/serve/stop.ts';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { askUntilClosed, untilListening, untilRead } from '../../support/asking.ts';
import { eachTest } from '../../support/each-test.ts';
import { OPERATOR } from '../../support/events.ts';
import { SERVE, startProgram } from '../../support/program.ts';
import { VAULT } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const PATIENT_STOP = join(import.meta.dir, '../../support/patient-stop.ts');
const VARS = { VAULT_SECRET, OPERATOR_SECRET: OPERATOR.Authorization.slice(7), DID_REGISTRY_ADDRESS: 'none' };

const { folder, ends } = eachTest();

describe('a stop, on connections that are in use', () => {
  async function start() {
    const program = await startProgram(VARS, { cwd: folder.path, preload: PATIENT_STOP });
    ends.push(() => program.stop('SIGKILL'));
    return { program, port: Number(new URL(program.url).port) };
  }

  test('makes /readyz 503 at once, while it still answers, so that a balancer sends no more', async () => {
    const { program, port } = await start();
    const begun = Promise.withResolvers<void>();
    const asking = askUntilClosed(port, '/readyz', begun.resolve);
    await begun.promise;
    const stopped = program.stop();
    // Of the last answer on a connection that was begun before the signal, either is true.
    expect(await asking).toMatchObject({ status: expect.any(Number) });
    const body = JSON.stringify({ ok: false, database: 'writable', stopping: true });
    expect(await askUntilClosed(port, '/readyz')).toMatchObject({ status: 503, body });
    expect(await stopped).toBe(0);
  });

  test('answers a stream that comes back with one that ends at once and says when to come again', async () => {
    const { program, port } = await start();
    const minted = await fetch(`${program.url}/v1/console/token`, {
      method: 'POST',
      headers: { ...OPERATOR, 'content-type': 'application/json' },
      body: JSON.stringify({ app: 'default' }),
    });
    const { token } = (await minted.json()) as { token: string };
    const open = Promise.withResolvers<void>();
    const asking = askUntilClosed(port, `/v1/console/events?channel=sessions&token=${token}`, open.resolve);
    await open.promise;
    const stopped = program.stop();
    // A browser would not come again after an error status.
    expect(await asking).toMatchObject({ status: 200, body: expect.stringContaining('retry: 5000\n\n') });
    expect(await stopped).toBe(0);
  });
});

test('closing has what the answers left of the five seconds: a slow disk takes more than its half second', async () => {
  const [inflight, start] = [createInflight(), performance.now()];
  let isClosed = false;
  await drain({ servers: [], inflight, late: () => new Response() }, async () => {
    isClosed = await until('the disk answers', () => performance.now() - start > 3 * STOP_CLOSE_MS);
  });
  expect(isClosed).toBe(true);
});

describe('SIGHUP', () => {
  test('is a stop like SIGTERM: what is asked is answered, and the exit code is 0', async () => {
    const program = await startProgram(VARS, { cwd: folder.path });
    ends.push(() => program.stop('SIGKILL'));
    const begun = Promise.withResolvers<void>();
    const asking = askUntilClosed(Number(new URL(program.url).port), '/readyz', begun.resolve);
    await begun.promise;
    const stopped = program.stop('SIGHUP');
    expect(await asking).toMatchObject({ status: expect.any(Number) });
    expect(await stopped).toBe(0);
    expect(program.output()).toContain('"event":"stopped"');
  });

  test.each(['SIGHUP', 'SIGTERM'] as const)('behind %s hurries no stop', async (first) => {
    const program = await startProgram(VARS, { cwd: folder.path });
    ends.push(() => program.stop('SIGKILL'));
    process.kill(program.pid, first);
    await until('the stop begins', () => program.output().includes('"event":"stopping"'));
    expect(await program.stop('SIGHUP')).toBe(0);
    expect(program.output()).toContain('"event":"stopped"');
  });

  test('stays ignored where it was from the start, as nohup does it', async () => {
    const script = join(folder.path, 'ignoring.sh');
    writeFileSync(script, `#!/bin/sh\ntrap '' HUP\nexec ${VAULT.map((word) => `'${word}'`).join(' ')} "$@"\n`, {
      mode: 0o700,
    });
    const program = await startProgram(VARS, { cwd: folder.path, binary: script });
    ends.push(() => program.stop('SIGKILL'));
    process.kill(program.pid, 'SIGHUP');
    // A signal that is not ignored comes before the answer to what is asked after it.
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    expect(await program.stop()).toBe(0);
    expect(program.output()).toContain('"signal":"SIGTERM"');
  });
});

describe('a vault that never came up', () => {
  /** A database server that answers nothing until the test says what. */
  function startDatabase() {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Response>();
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch() {
        asked.resolve();
        return (await answer.promise).clone() as Response;
      },
    });
    ends.push(() => server.stop(true));
    return { url: `http://127.0.0.1:${server.port}`, asked: asked.promise, answer: answer.resolve };
  }

  function spawn(databaseUrl: string) {
    const port = freePort();
    const env = { ...VARS, PORT: String(port), DATABASE_URL: databaseUrl };
    const child = Bun.spawn([...SERVE], { cwd: folder.path, env, stdio: ['ignore', 'ignore', 'ignore'] });
    ends.push(() => child.kill('SIGKILL'));
    return { port, child };
  }

  /** A start that waits for its database, and requests that wait for the start. */
  async function startWaiting() {
    const database = startDatabase();
    const { port, child } = spawn(database.url);
    await untilListening(port);
    const asking = Array.from({ length: 3 }, () => askUntilClosed(port, '/api/status'));
    await database.asked;
    await untilRead(port);
    return { database, child, asking };
  }

  const REFUSAL = { status: 503, body: expect.stringContaining('"error":"shutting_down"') };

  test('answers what waits for it when it is stopped', async () => {
    const { child, asking } = await startWaiting();
    child.kill('SIGTERM');
    for (const last of await Promise.all(asking)) {
      expect(last).toMatchObject(REFUSAL);
      expect(last).toMatchObject({ head: expect.stringMatching(/^retry-after: 5$/im) });
    }
    expect(await child.exited).toBe(0);
  });

  test('answers what waits for it when the start fails', async () => {
    const { database, child, asking } = await startWaiting();
    database.answer(new Response('no such token', { status: 401 }));
    for (const last of await Promise.all(asking)) expect(last).toMatchObject(REFUSAL);
    expect(await child.exited).toBe(1);
  });
});
