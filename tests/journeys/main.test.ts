import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { buildBinary } from '../support/binary.ts';
import { temporaryFolder } from '../support/databases.ts';
import { standsIn } from '../support/digits.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const credential = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

let binary: Awaited<ReturnType<typeof buildBinary>>;
let chain: TestChain;
let mail: MailCatcher;
beforeAll(async () => {
  [binary, chain, mail] = await Promise.all([buildBinary(), startTestChain(), startMailCatcher()]);
});
afterAll(async () => {
  await Promise.all([chain.stop(), mail.stop()]);
  binary.remove();
});

/** Where the compiled program keeps its data. */
const PLACES = [
  {
    name: 'a SQLite file',
    open: async (dir: string) => ({ url: `file:${join(dir, 'vault.db')}`, stop: async () => {} }),
  },
  { name: 'a libSQL server', open: (dir: string) => startLibsql({ dir: join(dir, 'libsql') }) },
];

describe.each(PLACES)('the main job, on the compiled program and $name', ({ name, open }) => {
  let folder: ReturnType<typeof temporaryFolder>;
  let place: Awaited<ReturnType<typeof open>>;
  let program: Program;

  const start = async () => {
    const vars = {
      ...chain.vars,
      // The registrar's DID follows from it, and a restart may get another port.
      BASE_URL: 'http://localhost:8787',
      DATA_DIR: folder.path,
      DATABASE_URL: place?.url ?? '',
      VAULT_SECRET,
      OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: mail.url,
      EMAIL_FROM: 'Vault <vault@example.com>',
      // A killed process leaves its check leased for half a minute, and whoever looks until then spends the limit.
      RATE_LIMIT_READS_PER_IP: '1000000',
    };
    program = await startProgram(vars, { cwd: folder.path, binary: binary.path });
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    place = await open(folder.path);
    if (place) await start();
    else console.log(`${name} is not to be had on this machine: its journeys are left out`);
  });
  afterEach(async () => {
    if (place) expect(await program.stop()).toBe(0);
    await place?.stop();
    folder.remove();
  });

  const call = async (line: string, body?: unknown) => {
    const [method = 'GET', path = '/'] = line.split(' ');
    const sent =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    const response = await fetch(program.url + path, { method, ...sent });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was answered.
    return { status: response.status, body: (await response.json()) as any };
  };
  const lookUp = async (credentialId: string, isSo: (status: number, body: { status?: string }) => boolean) => {
    const look = async () => {
      const found = await call(`GET /api/dids/lookup?credentialId=${credentialId}`);
      return isSo(found.status, found.body) && found;
    };
    return until('the registration changes', look).catch((cause) => {
      throw new Error(program.output(), { cause });
    });
  };
  /** Proves an address of mail: the code comes from the mail that arrived. */
  const prove = async (identifier: string) => {
    const who = { identifier, channel: 'email' };
    expect((await call('POST /api/verify/send', who)).status).toBe(200);
    const arrived = await mail.waitFor(identifier);
    expect(arrived.html).toContain('90 seconds');
    const code = /\b\d{6}\b/.exec(arrived.text)?.[0];
    const checked = await call('POST /api/verify/check', { ...who, code });
    expect(checked.body).toMatchObject({ ok: true, verified: true });
    expect(standsIn(program.output(), String(code))).toBe(false);
    return checked.body.attestation;
  };

  test('an address is proven by mail, its DID registered on-chain, recorded, and confirmed across a restart', async () => {
    if (!place) return;
    const who = {
      identifier: `alice-${credential()
        .slice(0, 8)
        .toLowerCase()
        .replace(/[^a-z0-9]/g, 'x')}@example.com`,
      channel: 'email',
    };
    const attestation = await prove(who.identifier);
    const did = `did:key:z${credential().replace(/[^A-Za-z0-9]/g, 'x')}`;
    expect((await call('POST /api/sessions', { ...who, did })).status).toBe(200);
    const { txHash, block } = await chain.register({ did });
    const claim = { ...who, did, credentialId: credential(), txHash, attestation };
    expect((await call('POST /api/dids', claim)).body).toEqual({ ok: true, ...who, txHash });
    await program.stop('SIGKILL');
    await start();
    const found = await lookUp(claim.credentialId, (_, { status }) => status === 'confirmed');
    expect(found.body).toMatchObject({
      did,
      channel: 'email',
      status: 'confirmed',
      proven: false,
      txHash,
      blockNumber: block,
    });
    expect(JSON.stringify(found.body)).not.toContain(who.identifier);
    expect((await call('POST /api/dids', claim)).body).toEqual({ ok: true, ...who, txHash });
    const check = await call(`GET /api/sessions/check?identifier=${who.identifier}`);
    expect(check.body).toMatchObject({ available: false, reason: 'identifier_taken' });
  });

  test('a handle whose alias leads to its DID: the identifier is proven by the registry, the controller by nothing', async () => {
    if (!place) return;
    const handle = `h${credential()
      .slice(0, 8)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, 'x')}`;
    const did = `did:key:z${handle}`;
    const { txHash } = await chain.register({ did, handle });
    const claim = { handle, did, credentialId: credential(), txHash };
    expect((await call('POST /api/dids', claim)).status).toBe(200);
    const found = await lookUp(claim.credentialId, (_, { status }) => status === 'confirmed');
    const proofs = { identifier: 'alias', controller: null, did: null };
    expect(found.body).toMatchObject({ did, channel: 'handle', proven: false, proofs });
  });

  test('a transaction that reverted, or that registered another DID, fails and frees the handle', async () => {
    if (!place) return;
    const handle = `f${credential()
      .slice(0, 8)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, 'x')}`;
    const did = `did:key:z${handle}`;
    const other = await chain.register({ did: `${did}other` });
    const twice = await chain.revert({ did: `${did}other` });
    for (const txHash of [other.txHash, twice]) {
      const claim = { handle, did, credentialId: credential(), txHash };
      expect((await call('POST /api/dids', claim)).status).toBe(200);
      expect((await lookUp(claim.credentialId, (status) => status === 404)).body).toEqual({ error: 'not_found' });
    }
    expect((await call(`GET /api/sessions/check?identifier=${handle}`)).body.available).toBe(true);
  });
});
