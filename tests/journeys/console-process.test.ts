import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type ConsolePage, openConsole } from '../support/console.ts';
import { readRows, temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until, untilSo } from '../support/until.ts';

describe.skipIf(!chromium)('the console in Chromium, on a vault in a process of its own', () => {
  let own: OwnBrowser;
  let folder: ReturnType<typeof temporaryFolder>;
  let program: Program;
  let c: ConsolePage;
  let sent = 0;
  beforeAll(async () => {
    own = await startShell();
  });
  afterAll(() => own.close());
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    expect(c.faults).toEqual([]);
    await c.page.close();
    await program.stop();
    folder.remove();
  });

  const start = async (vars: Readonly<Record<string, string>> = {}, port = '0') => {
    const given = { DATA_DIR: folder.path, PORT: port, MAX_VERIFY_SENDS_PER_IP: '1000', ...vars };
    program = await startProgram(given, { cwd: folder.path });
  };
  const restart = async (signal: NodeJS.Signals, vars: Readonly<Record<string, string>> = {}) => {
    const { port } = new URL(program.url);
    await program.stop(signal);
    await start(vars, port);
  };
  /** Signs in as a person does at first: with the secret out of the data directory. */
  const signIn = async (before = '') => {
    const file = join(folder.path, 'operator.secret');
    expect(existsSync(file)).toBe(true);
    c = await openConsole(own.browser, program.url);
    await c.page.evaluate(before);
    await c.signIn(readFileSync(file, 'utf8').trim());
    await c.phase('live');
  };
  const send = async () => {
    const body = JSON.stringify({ identifier: `person${++sent}@example.com`, channel: 'email' });
    const headers = { 'Content-Type': 'application/json' };
    const { status } = await fetch(`${program.url}/api/verify/send`, { method: 'POST', body, headers });
    expect(status).toBe(200);
  };
  const stored = () => {
    const rows = readRows(join(folder.path, 'vault.db'), 'SELECT id, type FROM events ORDER BY id');
    return rows.map(([id, type]) => ({ id: Number(id), type: String(type) }));
  };
  const storedIds = () => stored().map(({ id }) => id);
  /** The page has caught up with the table, and every event of it came once. */
  const expectComplete = async () => {
    const all = storedIds();
    await untilSo(c.ids, (ids) => (ids.at(-1) ?? 0) >= (all.at(-1) ?? 0));
    const now = storedIds();
    await untilSo(c.ids, (ids) => ids.length >= now.length);
    expect(await c.ids()).toEqual(now);
    expect(await c.received()).toBe(now.length);
  };

  test('a vault that is killed, and one that is stopped: the stream resumes where it was', async () => {
    await start();
    await signIn();
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      for (let i = 0; i < 5; i++) await send();
      await restart(signal);
      for (let i = 0; i < 5; i++) await send();
      await c.phase('live');
      await send();
      await expectComplete();
    }
    expect(await c.phases()).toContain('connecting');
    expect(stored().filter(({ type }) => type === 'code.sent')).toHaveLength(22);
  });

  test('short tokens are renewed again and again under a steady flow of events, without a gap', async () => {
    // The page renews a token of a minute after 36 s. Here that comes sixty times as soon, so that most of the minute
    // is left even for a page that stands still on a busy machine.
    await start({ STREAM_TOKEN_TTL_SECONDS: '60' });
    await signIn(`{
        const { setTimeout } = window;
        const isRenewal = (ms) => ms > 30_000 && ms < 60_000;
        window.setTimeout = (act, ms, ...given) => setTimeout(act, isRenewal(ms) ? ms / 60 : ms, ...given);
      }`);
    let minted = 0;
    c.page.on('request', (request) => {
      if (request.url().endsWith('/v1/console/token')) minted++;
    });
    // What is sent all the while is bounded: the vault takes a thousand.
    const flow = async () => {
      await send();
      return minted >= 3;
    };
    await until('three tokens in a flow of events', flow, undefined, 40);
    await send();
    // The renewals go on, so the two are compared once the flow has ended.
    await untilSo(
      async () => [(await c.ids()).join(), storedIds().join()],
      ([shown, all]) => shown === all,
    );
    expect(await c.received()).toBe((await c.ids()).length);
    // A renewal is no event: the audit channel has the first token alone.
    expect(stored().filter(({ type }) => type === 'token.minted')).toHaveLength(1);
    // Each token was replaced before it ran out.
    expect(await c.phases()).not.toContain('expired');
  });
});
