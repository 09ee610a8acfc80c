import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { openAccount, runSponsored } from '../../scripts/dev-stack/user-operation.ts';
import { LOCAL_MONEY, startSponsoredBundler } from '../support/bundler.ts';
import { chainVars } from '../support/chain-vars.ts';
import { until } from '../support/until.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// A client that was published before the second accounts and the second registry: it predicts an account, registers a DID
// and an alias on-chain with one operation through the vault's bundler, and reports the transaction. It sends the same
// bytes to a vault of the first contracts alone and to one of both editions, and reads the same in the answers.

type World = Awaited<ReturnType<typeof startWorld>>;
/** Requests and answers in order: what was asked, the status, and the body. */
type Transcript = readonly (readonly [string, number, Record<string, unknown>])[];

const PASSKEY = createPasskey(undefined, `0x${'5e'.repeat(32)}`);
const [pubKeyX, pubKeyY] = [Hex.fromBytes(PASSKEY.key.x), Hex.fromBytes(PASSKEY.key.y)];
const SOMEBODY = '0x5b5b5B5b5b5B5b5B5b5B5b5b5B5b5b5b5B5b5b5B';
const ALIAS = 'published.client';
const EMAIL = 'published@example.com';

let before: World;
let after: World;
beforeAll(async () => {
  [before, after] = [await startWorld(1), await startWorld(2)];
});
afterAll(() => Promise.all([before.stop(), after.stop()]));

test('published clients read and write the same with the second registry and both factories', async () => {
  const [one, other] = [await published(before), await published(after)];
  expect(other).toEqual(one);
  // It did what it was for.
  const bodies = Object.fromEntries(other.map(([line, , body]) => [line, body]));
  expect(other.map(([, status]) => status)).toEqual(other.map(() => 200));
  expect(bodies['GET /api/dids/lookup']).toMatchObject({ status: 'confirmed', channel: 'email', proven: false });
  expect(bodies['the registry']).toMatchObject({ alias: didHash(String(bodies['the registry']?.['did'])) });
});

test('what the second editions add is beside what published clients read', async () => {
  const [{ body: old }, { body: now }] = [
    await before.t.call('GET /api/contracts'),
    await after.t.call('GET /api/contracts'),
  ];
  expect(Object.keys(now)).toEqual(Object.keys(old));
  expect(old.accountFactory2).toBeNull();
  const { didRegistry, accountHelper, accountFactory2 } = after.contracts;
  expect(now).toEqual({ ...old, registrar: now.registrar, didRegistry, accountHelper, accountFactory2 });
});

/** A vault with the first contracts alone, or with both editions. */
async function startWorld(edition: 1 | 2) {
  const chain = await startChain();
  const contracts = await deployContracts(chain.rpc, { registry: edition });
  const sponsored = await startSponsoredBundler(chain);
  const { ACCOUNT_FACTORY_2_ADDRESS = '', ...first } = chainVars(chain.url, contracts);
  const vars = {
    ...first,
    ...(edition === 2 ? { ACCOUNT_FACTORY_2_ADDRESS } : {}),
    BUNDLER_URL: sponsored.url,
    ...LOCAL_MONEY,
  };
  const clock = { ...systemClock, advance: () => Promise.reject(new Error('this clock goes by itself')) };
  const t = await startVault({ ...vars, RATE_LIMIT_PROXY_PER_IP: '100000' }, { clock });
  const stop = async () => {
    await t.stop();
    await sponsored.stop();
    await chain.stop();
  };
  return { chain, contracts, t, stop };
}

/** All that a published client does, with what differs between two runs made the same. */
async function published({ chain, contracts, t }: World): Promise<Transcript> {
  const transcript: [string, number, Record<string, unknown>][] = [];
  const call = async (line: string, fields: Record<string, unknown> = {}) => {
    const { status, body } = await t.call(line, fields);
    transcript.push([line, status, body]);
    return body;
  };
  const { didRegistry } = (await t.call('GET /api/contracts')).body;
  const { address } = await call('GET /api/accounts/predict', { pubKeyX, pubKeyY });
  await call('GET /api/accounts/predict', { pubKeyX, pubKeyY, salt: '0x7' });
  await call('GET /api/accounts/state', { account: address });
  await call('GET /api/accounts/state', { account: SOMEBODY });
  await call('GET /api/aliases/check', { alias: ALIAS });
  const did = `did:pkh:eip155:84532:${address}`;
  const who = { identifier: EMAIL, channel: 'email' };
  await call('POST /api/sessions', { ...who, did });
  await call('POST /api/verify/send', who);
  const { attestation } = await call('POST /api/verify/check', { ...who, code: t.codeFor(EMAIL) });

  const account = await openAccount(chain.rpc, contracts, PASSKEY);
  const register = AbiFunction.fromAbi(didRegistryAbi, 'register');
  const data = AbiFunction.encodeData(register, [didHash(did), aliasHash(ALIAS), '']);
  const { receipt } = await runSponsored(chain.rpc, bundlerOf(t), account, [{ target: didRegistry, data }]);
  const txHash = receipt.transactionHash;
  transcript.push(['the registry', 200, { did, ...(await readRegistry({ chain }, didRegistry, did)) }]);
  await call('GET /api/accounts/state', { account: address });
  await call('POST /api/dids', { ...who, credentialId: 'cHVibGlzaGVkLWNsaWVudA', did, attestation, txHash });
  await until('the registration is confirmed', async () => {
    await t.work();
    const { body } = await t.call('GET /api/dids/lookup', { credentialId: 'cHVibGlzaGVkLWNsaWVudA' });
    return body.status === 'confirmed';
  });
  await call('GET /api/dids/lookup', { credentialId: 'cHVibGlzaGVkLWNsaWVudA' });
  await call('GET /api/sessions/check', who);
  await call('GET /api/aliases/check', { alias: ALIAS });
  return JSON.parse(masked(JSON.stringify(transcript, (_, value) => (typeof value === 'bigint' ? `${value}` : value))));
}

/** The vault's bundler proxy, as a wallet asks a bundler. */
function bundlerOf(t: TestVault) {
  return async (method: string, params: readonly unknown[] = []) => {
    const { body } = await t.call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params });
    if (body.error) throw new Error(`${method}: ${JSON.stringify(body.error)}`);
    return body.result;
  };
}

/** What the registry says, by the first one's ABI. */
async function readRegistry({ chain }: Pick<World, 'chain'>, to: Hex.Hex, did: string) {
  const ask = async (name: 'aliases' | 'controllerToDid' | 'resolve', arg: Hex.Hex) => {
    const item = AbiFunction.fromAbi(didRegistryAbi, name) as AbiFunction.AbiFunction;
    const data = AbiFunction.encodeData(item, [arg] as never);
    return AbiFunction.decodeResult(item, (await chain.rpc('eth_call', [{ to, data }, 'latest'])) as Hex.Hex);
  };
  const [controller] = did.split(':').slice(-1) as [Hex.Hex];
  return {
    alias: await ask('aliases', aliasHash(ALIAS)),
    own: await ask('controllerToDid', controller),
    resolved: await ask('resolve', didHash(did)),
  };
}

/** Times, transactions, signatures and ports differ between two runs of the same. */
function masked(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/"(txHash|signature|registrar|challenge|expiresAt|blockNumber)":("[^"]*"|\d+)/g, '"$1":"<$1>"')
    .replace(/"1[789]\d{8}"/g, '"<seconds>"');
}
