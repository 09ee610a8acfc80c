import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { WEBHOOK_SECRET } from '../support/receiver.ts';
import { until, untilHolds } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');

/** The receivers that the documents show: what is tried is what is written. */
const RECEIVERS = [
  { file: 'docs/webhooks.md', secret: 'WEBHOOK_SECRET' },
  { file: 'docs/hooks.md', secret: 'HOOK_SECRET' },
] as const;

const folder = temporaryFolder();
const receivers: Bun.Subprocess<'ignore', 'pipe', 'inherit'>[] = [];
const urls: string[] = [];
const headers = { 'content-type': 'application/json' };
let vault: Program;
let printed = '';

beforeAll(async () => {
  for (const { file, secret } of RECEIVERS) {
    const port = freePort();
    const [, shown = ''] = /```[jt]s\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, file), 'utf8')) ?? [];
    const path = join(folder.path, `${secret}.ts`);
    writeFileSync(path, shown);
    const receiver = Bun.spawn([process.execPath, path], {
      env: { [secret]: WEBHOOK_SECRET, PORT: String(port) },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    });
    receivers.push(receiver);
    urls.push(`http://127.0.0.1:${port}/hooks`);
    printed = '';
    collect(receiver.stdout);
    await prints('listening');
  }
  const [WEBHOOK_URL = '', EMAIL_HOOK_URL = ''] = urls;
  const webhooks = { WEBHOOK_URL, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
  const hook = { EMAIL_PROVIDER: 'hook', EMAIL_HOOK_URL, EMAIL_HOOK_SECRET: WEBHOOK_SECRET };
  vault = await startProgram({ ...webhooks, ...hook }, { cwd: folder.path });
});
afterAll(async () => {
  for (const receiver of receivers) receiver.kill();
  await Promise.all([...receivers.map(({ exited }) => exited), vault.stop()]);
  folder.remove();
});

/** Nothing but the vault's own signature is taken, whatever its form, and the receiver lives on. */
async function expectRefusesForgeries(url: string | undefined): Promise<void> {
  const forged = { ...headers, 'webhook-id': 'evt_1_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
  for (const signature of ['', 'v1,AAAA', `v1,${btoa('x'.repeat(32))}`, 'v2,AAAA', 'v1,'.padEnd(47, 'ü')]) {
    const answer = await fetch(url ?? '', {
      method: 'POST',
      headers: { ...forged, 'webhook-signature': signature },
      body: '{"type":"forged"}',
    });
    expect(answer.status).toBe(401);
  }
  expect(printed).not.toContain('forged');
}

test('the receiver of docs/webhooks.md takes what a vault posts, and refuses what it did not sign', async () => {
  const body = JSON.stringify({ identifier: 'alice', channel: 'handle', did: 'did:key:zAlice' });
  await fetch(`${vault.url}/api/sessions`, { method: 'POST', headers, body });
  await prints('session.created');
  await prints('a***');
  await expectRefusesForgeries(urls[0]);
});

test('the receiver of docs/hooks.md sends what a vault posts, and refuses what it did not sign', async () => {
  const body = JSON.stringify({ identifier: 'alice@example.com', channel: 'email' });
  const sent = await fetch(`${vault.url}/api/verify/send`, { method: 'POST', headers, body });
  expect(sent.status).toBe(200);
  const sentByIt = /send msg_[0-9a-f]{32} email alice@example\.com [\s\S]*\b\d{6}\b/;
  await untilHolds(async () => expect(printed).toMatch(sentByIt));
  await expectRefusesForgeries(urls[1]);
});

async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) printed += decoder.decode(chunk, { stream: true });
}

const prints = (text: string) => until(`a receiver prints "${text}"`, () => printed.includes(text));
