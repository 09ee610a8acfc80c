import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { WEBHOOK_SECRET } from '../support/receiver.ts';

const ROOT = join(import.meta.dir, '../..');

/** The receiver that `docs/webhooks.md` shows: what is tried is what is told. */
const shown = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8'))?.[1] ?? '';

const folder = temporaryFolder();
let receiver: Bun.Subprocess<'ignore', 'pipe', 'inherit'>;
let vault: Program;
let url: string;
let printed = '';

beforeAll(async () => {
  const port = freePort();
  url = `http://127.0.0.1:${port}`;
  const file = join(folder.path, 'receiver.ts');
  writeFileSync(file, shown);
  receiver = Bun.spawn([process.execPath, file], {
    env: { WEBHOOK_SECRET, PORT: String(port) },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  collect(receiver.stdout);
  await until('listening');
  const vars = { WEBHOOK_URL: `${url}/hooks`, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
  vault = await startProgram(vars, { cwd: folder.path });
});
afterAll(async () => {
  receiver.kill();
  await Promise.all([receiver.exited, vault.stop()]);
  folder.remove();
});

test('the receiver of docs/webhooks.md takes what a vault posts, and refuses what it did not sign', async () => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ identifier: 'alice', channel: 'handle', did: 'did:key:zAlice' });
  await fetch(`${vault.url}/api/sessions`, { method: 'POST', headers, body });
  await until('session.created');
  expect(printed).toContain('a***');
  const forged = { ...headers, 'webhook-id': 'evt_1_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
  for (const signature of ['', 'v1,AAAA', `v1,${btoa('x'.repeat(32))}`, 'v2,AAAA']) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...forged, 'webhook-signature': signature },
      body: '{"type":"forged"}',
    });
    expect(answer.status).toBe(401);
  }
  expect(printed).not.toContain('forged');
});

async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) printed += decoder.decode(chunk, { stream: true });
}

async function until(text: string): Promise<void> {
  for (let i = 0; i < 2_400 && !printed.includes(text); i++) await Bun.sleep(25);
  expect(printed).toContain(text);
}
