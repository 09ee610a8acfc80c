import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { dataOf, OPERATOR } from '../../support/events.ts';
import { FIRST_AT, isFailed, ROW_EVERY_MS, writePeople } from '../../support/many-people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const ROWS = 130;
const LISTS = ['registrations', 'sessions'] as const;
const timeOf = (i: number) => new Date(FIRST_AT + i * ROW_EVERY_MS).toISOString();
/** The number of a row, by its DID. */
const numberOf = ({ did }: { did: string }) => Number(did.slice('did:key:z'.length));
const downFrom = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);

describe.each(engines())('lists on $name', ({ open }) => {
  let database: TestDatabase;
  let t: TestVault;
  beforeEach(async () => {
    database = await open();
    t = await startVault({ APPS: 'shop' }, { database });
    await t.call('GET /readyz');
    await writePeople(database, ROWS);
  });
  afterEach(async () => {
    await t.stop();
    await database.close();
  });

  const ask = (list: string, query: Readonly<Record<string, unknown>> = {}) =>
    t.call(`GET /v1/console/${list}`, query, OPERATOR);

  async function pages(list: string, query: Readonly<Record<string, unknown>>, meanwhile = async () => {}) {
    const found: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const { status, body, text } = await ask(list, { ...query, ...(cursor && { cursor }) });
      if (status !== 200) throw new Error(text);
      found.push(...body[list].map(numberOf));
      if (body.next === null) return found;
      cursor = body.next;
      await meanwhile();
    }
  }

  test.each(LISTS)('%s come newest first, a page at a time, each once, with their number', async (list) => {
    const { body } = await ask(list);
    expect(body[list].map(numberOf)).toEqual(downFrom(ROWS, ROWS - 49));
    expect(body.total).toEqual({ count: ROWS, exact: true });
    expect(body.searchedTo).toBe(timeOf(ROWS - 49));
    expect(await pages(list, { limit: 40 })).toEqual(downFrom(ROWS, 1));
    expect((await ask(list, { cursor: body.next })).body.total).toBeNull();
  });

  test.each(LISTS)('%s keep their pages while rows arrive', async (list) => {
    let arrived = ROWS;
    const arrive = async () => {
      arrived++;
      const columns = list === 'sessions' ? 'expires_at' : 'status, channel, credential_id, tx_hash, unseen_since';
      const values = list === 'sessions' ? '4102444800000' : `'submitted', 'handle', 'AAAA', '', 0`;
      const at = list === 'sessions' ? ', ip, created_at' : ', registered_at';
      const own = list === 'sessions' ? `'203.0.113.7', :at` : ':at';
      await t.rows(
        `INSERT INTO ${list} (identifier, did, did_hash, alias_hash, ${columns}${at})
          VALUES ('handle:late' || :i, 'did:key:z' || :i, '', '', ${values}, ${own})`,
        { i: BigInt(arrived) as unknown as number, at: BigInt(FIRST_AT + arrived * ROW_EVERY_MS) as unknown as number },
      );
    };
    expect(await pages(list, { limit: 25 }, arrive)).toEqual(downFrom(ROWS, 1));
    expect((await ask(list, { limit: 1 })).body[list].map(numberOf)).toEqual([arrived]);
  });

  test.each(LISTS)('%s of one millisecond are neither lost nor doubled', async (list) => {
    const column = list === 'sessions' ? 'created_at' : 'registered_at';
    await t.rows(`UPDATE ${list} SET ${column} = ${FIRST_AT}`);
    const found = await pages(list, { limit: 7 });
    expect(found.toSorted((a, b) => b - a)).toEqual(downFrom(ROWS, 1));
  });

  test('three sessions that one DID opened in one millisecond stay on one page', async () => {
    await t.rows(
      `UPDATE sessions SET created_at = ${FIRST_AT}, did_hash = '0x01' WHERE did IN ('did:key:z9', 'did:key:z10', 'did:key:z11')`,
    );
    const { body } = await ask('sessions', { to: timeOf(0), limit: 2, from: timeOf(-1) });
    expect(body.sessions).toEqual([]);
    const { body: found } = await ask('sessions', { to: timeOf(1), limit: 2 });
    expect(found.sessions.map(numberOf).toSorted((a: number, b: number) => a - b)).toEqual([9, 10, 11]);
    expect(found.next).toBeNull();
  });

  test.each<[string, Record<string, string>, (i: number) => boolean]>([
    ['registrations', { status: 'failed' }, isFailed],
    ['registrations', { app: 'shop' }, (i) => i === 7],
    ['registrations', { channel: 'sms', status: 'failed' }, (i) => i % 3 === 1 && isFailed(i)],
    ['registrations', { from: timeOf(20), to: timeOf(23) }, (i) => i >= 20 && i < 23],
    ['registrations', { status: 'submitted' }, () => false],
    ['sessions', { status: 'open' }, isFailed],
    ['sessions', { status: 'linked', channel: 'email' }, (i) => i % 3 === 0 && !isFailed(i)],
    ['sessions', { status: 'lapsed' }, () => false],
    ['sessions', { app: 'shop', from: timeOf(7), to: timeOf(8) }, (i) => i === 7],
    ['sessions', { app: 'shop', from: timeOf(8) }, () => false],
  ])('%s by %j are those, and counted', async (list, query, isMeant) => {
    const meant = downFrom(ROWS, 1).filter(isMeant);
    expect(await pages(list, { ...query, limit: 5 })).toEqual(meant);
    expect((await ask(list, query)).body.total).toEqual({ count: meant.length, exact: true });
  });

  test.each(LISTS)('%s are masked, and are found whole by their identifier alone', async (list) => {
    const { text } = await ask(list, { limit: 200 });
    expect(text).not.toMatch(/person\d|\+49151\d{4}/);
    expect((await ask(list, { identifier: 'person3@example.com' })).body[list]).toMatchObject([
      { identifier: 'person3@example.com', did: 'did:key:z3' },
    ]);
    expect((await ask(list, { identifier: 'person3@example.co' })).body[list]).toEqual([]);
  });

  test.each(LISTS)('%s refuse what they cannot read', async (list) => {
    const other = list === 'sessions' ? 'confirmed' : 'open';
    const wrong: Record<string, string>[] = [
      { cursor: 'x' },
      { cursor: `1.${'f'.repeat(67)}` },
      { cursor: "1.' OR 1" },
      { cursor: '-1.2' },
      { limit: '0' },
      { limit: '201' },
      { limit: '1e2' },
      { from: 'yesterday' },
      { from: '2026-02-30' },
      { to: '2026-11-23T08:00' },
      { status: other },
      { channel: 'mail' },
      { app: 'Shop' },
      { identifier: 'person3@example.com', status: 'linked' },
    ];
    if (list === 'registrations') wrong.push({ cursor: '1.0xab' }, { did: 'did:key:z1', limit: '5' });
    const answers = [];
    for (const query of wrong) answers.push((await ask(list, query)).status);
    expect(answers).toEqual(wrong.map(() => 400));
  });

  test.each(LISTS)('%s are the operator’s alone', async (list) => {
    for (const path of [list, `${list}/export`]) expect((await t.call(`GET /v1/console/${path}`)).status).toBe(401);
  });

  test.each(LISTS)('%s leave as JSON Lines and as CSV, filtered, and the audit channel has it', async (list) => {
    const query = { from: timeOf(20), to: timeOf(31), channel: 'email' };
    const jsonl = await ask(`${list}/export`, { ...query, format: 'jsonl' });
    const lines = jsonl.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(numberOf)).toEqual([30, 27, 24, 21]);
    expect(jsonl.headers.get('content-type')).toBe('application/x-ndjson');
    const csv = await ask(`${list}/export`, { ...query, format: 'csv' });
    const [head = '', ...rows] = csv.text.trimEnd().split('\r\n');
    expect(head.split(',').toSorted()).toEqual(Object.keys(lines[0]).toSorted());
    expect(rows.map((row) => /did:key:z\d+/.exec(row)?.[0])).toEqual(lines.map(({ did }) => did));
    expect(csv.headers.get('content-disposition')).toBe(`attachment; filename="${list}-2025-01-01.csv"`);
    expect(csv.headers.get('link')).toBeNull();
    const filter = `channel=email from=${timeOf(20)} to=${timeOf(31)}`;
    expect(await dataOf(t, 'list.exported')).toEqual([
      { list, format: 'jsonl', filter },
      { list, format: 'csv', filter },
    ]);
  });
});

describe('an export', () => {
  let t: TestVault;
  beforeEach(async () => {
    t = await startVault();
    await t.call('GET /readyz');
  });
  afterEach(() => t.stop());

  test('has no cell that a spreadsheet would run, and quotes what needs it', async () => {
    await writePeople(t.database, 1);
    await t.rows(`UPDATE registrations SET identifier = 'handle:=cmd', channel = 'handle', did = 'did:web:a","b',
      credential_id = '-2+3', app = '@x', failure = '+' || char(10) || 'b', lost = char(9) || 'a'`);
    const { text } = await t.call('GET /v1/console/registrations/export', { format: 'csv' }, OPERATOR);
    expect(text.slice(text.indexOf('\r\n') + 2)).toBe(
      `1,${timeOf(1)},'@x,handle,'=***,confirmed,"'+\nb",'\ta,true,true,false,"did:web:a"",""b",'-2+3,,` +
        `0x${'1'.padStart(64, '0')},1\r\n`,
    );
  });

  test('of HEAD has no rows, and the audit channel nothing', async () => {
    const response = await fetch(`${t.url}/v1/console/sessions/export`, { method: 'HEAD', headers: OPERATOR });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(await dataOf(t, 'list.exported')).toEqual([]);
  });
});

describe('GET /v1/console/registrations/detail', () => {
  let t: TestVault;
  beforeEach(async () => {
    t = await startVault({ EXPLORER_URL: 'https://explorer.example', DID_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}` });
  });
  afterEach(() => t.stop());

  const detail = (id: unknown) => t.call('GET /v1/console/registrations/detail', { id }, OPERATOR);

  test('shows a registration with its session, its codes and what else claimed the identifier', async () => {
    await t.call('POST /api/verify/send', { identifier: 'ada@example.com', channel: 'email' });
    const check = { identifier: 'ada@example.com', channel: 'email', code: t.codeFor('ada@example.com') };
    const { body: checked } = await t.call('POST /api/verify/check', check);
    const claim = { identifier: 'ada@example.com', channel: 'email', credentialId: 'AAECAwQFBgcICQoLDA0ODw' };
    const chain = { did: 'did:key:z6Mk', txHash: `0x${'1'.repeat(64)}`, attestation: checked.attestation };
    expect((await t.call('POST /api/dids', { ...claim, ...chain })).status).toBe(200);
    await t.rows(`INSERT INTO registrations (identifier, channel, app, did, did_hash, alias_hash, credential_id, tx_hash,
      status, failure, registered_at, unseen_since) VALUES ('email:ada@example.com', 'email', 'default', 'did:key:zB',
      '', '', 'AAAA', '', 'failed', 'unseen', 1, 1)`);
    const { status, body, text } = await detail(1);
    const at = '2025-01-01T00:00:00.000Z';
    expect([status, body]).toMatchObject([
      200,
      {
        registration: { id: 1, identifier: 'a***@example.com', status: 'submitted' },
        watch: { checks: 0 },
        relay: null,
        session: { identifier: 'a***@example.com', did: 'did:key:z6Mk', status: 'linked', expiresAt: null },
        verifiedAt: at,
        codes: [{ sentAt: at, delivery: 'accepted', attempts: 1, verifiedAt: at }],
        others: [{ id: 2, status: 'failed', failure: 'unseen' }],
        chain: { chainId: 84532, explorer: 'https://explorer.example' },
      },
    ]);
    expect(text).not.toContain('ada@');
  });

  test('has what its words rest on: the key that signed, the last look, and the registry', async () => {
    await t.call('GET /readyz');
    await writePeople(t.database, 2);
    await t.rows(`UPDATE registrations SET proof_key = '0xabcd', looked_at = 1000 WHERE id = 2`);
    const { body } = await detail(2);
    expect(body.evidence).toEqual({ key: '0xabcd', lookedAt: '1970-01-01T00:00:01.000Z' });
    expect(body.chain.registry).toBe(`0x${'11'.repeat(20)}`);
    expect((await detail(1)).body.evidence).toEqual({ key: null, lookedAt: null });
  });

  test('has the call of the relay', async () => {
    await t.call('GET /readyz');
    await writePeople(t.database, 1);
    await t.rows(`INSERT INTO relays (kind, role, registration_id, chain_id, target, status, signer, nonce, created_at)
      VALUES ('registration', 'registrar', 1, 84532, '0x', 'mined', '0x${'ab'.repeat(20)}', 4, 0)`);
    expect((await detail(1)).body.relay).toEqual({
      status: 'mined',
      failure: null,
      signer: `0x${'ab'.repeat(20)}`,
      nonce: 4,
      queuedAt: '1970-01-01T00:00:00.000Z',
    });
  });

  test('is 404 for an id that none has, and 400 for no id', async () => {
    expect([(await detail(9)).status, (await detail('x')).status, (await detail('')).status]).toEqual([404, 400, 400]);
  });
});
