import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ APPS: 'shop' });
});
afterEach(() => t.stop());

const ask = (line: string, fields: Readonly<Record<string, unknown>> = {}) => t.call(line, fields, OPERATOR);

describe('GET /v1/console/registrations', () => {
  const credentialId = 'AAECAwQFBgcICQoLDA0ODw';
  beforeEach(async () => {
    const claim = { credentialId, handle: 'alice', did: 'did:key:z6Mk', txHash: `0x${'1'.repeat(64)}` };
    expect((await t.call('POST /api/dids', claim, { 'X-Vault-App': 'shop' })).status).toBe(200);
  });

  test.each([
    [{ credentialId }, 'a***'],
    [{ did: 'did:key:z6Mk' }, 'a***'],
    [{ identifier: 'Alice' }, 'alice'],
    [{ identifier: 'handle:alice' }, 'alice'],
  ])('finds it by %j, the identifier masked unless it was asked by', async (query, identifier) => {
    const { status, body } = await ask('GET /v1/console/registrations', query);
    expect([status, body]).toEqual([
      200,
      {
        registrations: [
          {
            id: 1,
            app: 'shop',
            identifier,
            channel: 'handle',
            did: 'did:key:z6Mk',
            credentialId,
            status: 'submitted',
            failure: null,
            lost: null,
            final: false,
            holder: true,
            proven: false,
            txHash: `0x${'1'.repeat(64)}`,
            blockNumber: null,
            smartAccount: null,
            registeredAt: '2025-01-01T00:00:00.000Z',
          },
        ],
        next: null,
        searchedTo: null,
        total: null,
      },
    ]);
  });

  test('finds failed ones as well, the newest first', async () => {
    await t.rows(`UPDATE registrations SET status = 'failed', failure = 'unseen', holds = 0`);
    await t.call('POST /api/dids', {
      credentialId,
      handle: 'alice',
      did: 'did:key:z6Mk',
      txHash: `0x${'2'.repeat(64)}`,
    });
    const { body } = await ask('GET /v1/console/registrations', { credentialId });
    const shown = body.registrations.map((one: { status: string; failure: string }) => [one.status, one.failure]);
    expect(shown).toEqual([
      ['submitted', null],
      ['failed', 'unseen'],
    ]);
  });

  test('of the erased are in no answer: not listed, not found, not exported (§3.5)', async () => {
    const bob = { credentialId: 'BBECAwQFBgcICQoLDA0ODw', handle: 'bob', did: 'did:key:z6Bob' };
    expect((await t.call('POST /api/dids', { ...bob, txHash: `0x${'3'.repeat(64)}` })).status).toBe(200);
    expect((await ask('POST /v1/console/person/erase', { identifier: 'handle:alice' })).body.erased).toBe(true);
    expect(await t.rows('SELECT id, identifier, did FROM registrations WHERE id = 1')).toEqual([
      { id: 1, identifier: 'handle:[1]@erased', did: 'did:key:z6Mk' },
    ]);
    const list = 'GET /v1/console/registrations';
    const answers = [
      await ask(list),
      await ask(list, { channel: 'handle', app: 'shop', limit: 1 }),
      await ask(list, { did: 'did:key:z6Mk' }),
      await ask(list, { credentialId }),
      await ask(`${list}/detail`, { id: 1 }),
      await ask(`${list}/export`, { format: 'csv' }),
      await ask(`${list}/export`, { format: 'jsonl' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 200, 200]);
    for (const { text } of answers) expect(text).not.toMatch(/erased|z6Mk|AAECAwQ/);
    const [all, , , , , csv] = answers;
    expect([all?.text, csv?.text]).toEqual([expect.stringContaining(bob.did), expect.stringContaining(bob.did)]);
  });

  test.each([{ did: 'did:key:z6Mk', credentialId }])('%j is 400: one of three', async (query) => {
    const { status, body } = await ask('GET /v1/console/registrations', query);
    expect([status, body]).toEqual([400, { error: 'Expected one query parameter of: identifier, credentialId, did' }]);
  });
});
