import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { createCandidate, type RelayChain, startRelayChain } from '../support/candidates.ts';
import type { Program } from '../support/program.ts';
import { makeProject, type Project, runProject, transpile } from '../support/runtime.ts';
import { addTests } from './tests.ts';

let project: Project;
let program: Program;
beforeAll(async () => {
  project = await makeProject('node');
  program = await runProject(project, ['node', transpile(project)]);
});
afterAll(async () => {
  await program.stop();
  project.remove();
});

addTests('Node', () => program);

describe('Node, with a mail server and a chain', () => {
  let chain: RelayChain;
  let mail: MailCatcher;
  let embedded: Program;
  beforeAll(async () => {
    [chain, mail] = await Promise.all([startRelayChain(), startMailCatcher()]);
    const place = `file:${project.path}/services.db`;
    const smtp = { EMAIL_PROVIDER: 'smtp', SMTP_URL: mail.url, EMAIL_FROM: 'Vault <vault@example.net>' };
    embedded = await runProject(project, ['node', 'main.mjs'], {
      ...chain.vars,
      ...smtp,
      ...ownPort(),
      DATABASE_URL: place,
    });
  });
  afterAll(async () => {
    await embedded.stop();
    await Promise.all([chain.stop(), mail.stop()]);
  });

  const post = async (path: string, fields: unknown) => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(embedded.url + path, { method: 'POST', headers, body: JSON.stringify(fields) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  test('a code comes by SMTP', async () => {
    const alice = { identifier: 'alice@example.com', channel: 'email' };
    expect(await post('/api/verify/send', alice)).toMatchObject({ status: 200 });
    const { text } = await mail.waitFor(alice.identifier);
    const [code] = /\d{6}/.exec(text) ?? [];
    expect((await post('/api/verify/check', { ...alice, code })).body).toMatchObject({ ok: true, verified: true });
  });

  test('a DID is registered on-chain by the vault', async () => {
    const bob = await createCandidate(chain, 'bob');
    const { status, body } = await post('/api/dids', bob.body);
    expect([status, body]).toEqual([200, expect.objectContaining({ status: 'confirmed', txHash: expect.any(String) })]);
    expect(await chain.rpc('eth_getTransactionReceipt', [body['txHash']])).toMatchObject({ status: '0x1' });
    expect(await chain.controllerOf(bob.did)).toBe(bob.smartAccount);
    expect(await (await fetch(`${embedded.url}/readyz`)).json()).toMatchObject({ relay: 'ok' });
  });
});

function ownPort(): Record<string, string> {
  const port = String(freePort());
  return { PORT: port, BASE_URL: `http://localhost:${port}` };
}
