import * as Value from 'ox/Value';
import { MINUTE_MS, systemClock } from '../../lib/base/clock.ts';
import { callUpstreamWith } from '../../lib/base/http-client.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { createBundler } from '../../lib/bundler/client.ts';
import { ACCOUNT_KINDS } from '../../lib/chain/account.ts';
import { addressWord, findWords, readQuantity } from '../../lib/chain/contract-call.ts';
import { readRegistryVersion } from '../../lib/chain/registry-version.ts';
import { createRpc } from '../../lib/chain/rpc.ts';
import { readEtherBalance } from '../../lib/chain/signer-state.ts';
import { signerAddress } from '../../lib/chain/transaction.ts';
import { createWitness, createWitnessFacts } from '../../lib/chain/witness.ts';
import { CHAINS } from '../../lib/config/chain-settings.ts';
import type { Config } from '../../lib/config/config.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN, UPSTREAM_TIMEOUT_MS } from '../../lib/constants.ts';
import { createAskIndexer } from '../../lib/indexer/graphql-client.ts';
import { checkAccounts, checkEntryPointVersion } from './accounts.ts';
import { type DoctorCheck, type Finding, fail, ok, skip, warn } from './finding.ts';
import { checkGuardian } from './guardian.ts';
import { checkTokens, checkWitness } from './nodes.ts';

/** From when on clock and node are a finding. Codes live 90 seconds, tokens are forgiven 60. */
const CLOCK_SKEW_WARN_MS = 5_000;
const CLOCK_SKEW_FAIL_MS = 30_000;
const CHAIN_SILENT_MS = 10 * MINUTE_MS;

const outside = { fetch, clock: systemClock, metrics: createMetrics(), log: () => undefined };

/** Checks of clock, chain, contracts, registrar, guardian, bundler and indexer. */
export function chainChecks(config: Config): readonly DoctorCheck[] {
  const rpc = createRpc({ ...outside, urls: { [config.chainId]: config.rpcUrl } });
  const witness = createWitness({ ...outside, config }, createWitnessFacts());
  const chain = { ...outside, config, rpc, witness };
  const remedy = 'check the node at RPC_URL, or set another one';
  const { registrarPrivateKey: key, guardianPrivateKey: guardian, bundlerUrl, indexerUrl, usdcAddress: usdc } = config;
  return [
    { name: 'clock', remedy, run: () => checkClock(config) },
    { name: 'chain', remedy, run: () => checkChain(chain) },
    { name: 'contracts', remedy, run: () => checkContracts(chain) },
    { name: 'contracts', remedy, run: async () => checkEntryPointVersion(config) },
    ...(witness === undefined
      ? []
      : [{ name: 'witness', remedy: 'check the node at RPC_WITNESS_URL', run: () => checkWitness(chain, witness) }]),
    ...ACCOUNT_KINDS.map((kind) => ({ name: 'accounts', remedy, run: () => checkAccounts(chain, kind) })),
    ...(usdc === null ? [] : [{ name: 'tokens', remedy, run: () => checkTokens(chain, usdc) }]),
    ...(key === undefined ? [] : [{ name: 'registrar', remedy, run: () => checkRegistrar(chain, signerAddress(key)) }]),
    ...(guardian === undefined
      ? []
      : [{ name: 'guardian', remedy, run: () => checkGuardian(chain, signerAddress(guardian)) }]),
    ...(bundlerUrl === undefined
      ? []
      : [
          {
            name: 'bundler',
            remedy: 'check the bundler at BUNDLER_URL',
            run: () => checkBundler(config, bundlerUrl),
          },
        ]),
    ...(indexerUrl === undefined
      ? []
      : [
          {
            name: 'indexer',
            remedy: 'check the indexer at INDEXER_URL',
            run: () => checkIndexer(config, indexerUrl),
          },
        ]),
  ];
}

interface Chain {
  readonly config: Config;
  readonly rpc: ReturnType<typeof createRpc>;
}

/** By the time that the node's web server puts on its answer. */
async function checkClock({ rpcUrl: url }: Config): Promise<readonly Finding[]> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const request = { url, method: 'POST', headers: { 'content-type': 'application/json' }, body } as const;
  const asked = systemClock.now();
  const date = await callUpstreamWith(outside, request, UPSTREAM_TIMEOUT_MS, async ({ headers }) =>
    headers.get('date'),
  ).catch(() => null);
  const answered = systemClock.now();
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return [skip('clock', 'the node at RPC_URL sends no date to compare with')];
  return [judgeClock((asked + answered) / 2 - (theirs + HALF_SECOND_MS))];
}

/** The header has whole seconds. */
const HALF_SECOND_MS = 500;

/** `aheadMs` is how far this machine's clock is ahead of the other, negative if behind. */
export function judgeClock(aheadMs: number): Finding {
  const off = Math.abs(aheadMs);
  const text = `${(off / 1000).toFixed(0)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the node at RPC_URL`;
  const remedy = 'set the clock and keep it synchronised: timedatectl set-ntp true';
  if (off >= CLOCK_SKEW_FAIL_MS) return fail('clock', `${text}: codes and tokens expire by this clock`, remedy);
  if (off >= CLOCK_SKEW_WARN_MS) return warn('clock', text, remedy);
  return ok('clock', 'agrees with the node at RPC_URL');
}

async function checkChain({ config, rpc }: Chain): Promise<readonly Finding[]> {
  const [id, block] = await Promise.all([
    rpc.call(config.chainId, 'eth_chainId', []),
    rpc.call(config.chainId, 'eth_getBlockByNumber', ['latest', false]),
  ]);
  const found = Number(readQuantity(id));
  if (found !== config.chainId) {
    const text = `RPC_URL is an endpoint of chain ${found}, but CHAIN_ID is ${config.chainId}`;
    return [fail('chain', text, 'set both to the same chain')];
  }
  const { number, timestamp } = block as { number: string; timestamp: string };
  const age = systemClock.now() - Number(readQuantity(timestamp)) * 1000;
  const place = `${config.chainName} (${found}), block ${Number(readQuantity(number))}`;
  return [
    // A block's time is never far ahead of the world's, so a clock that is behind the newest block is behind.
    ...(age <= -CLOCK_SKEW_FAIL_MS ? [judgeClock(age)] : []),
    age > CHAIN_SILENT_MS
      ? warn(
          'chain',
          `${place} is ${Math.round(age / 60_000)} minutes old`,
          'the node may be cut off: compare its block with a block explorer',
        )
      : ok('chain', place),
    ...(config.rpcUrl === CHAINS[config.chainId]?.['RPC_URL']
      ? [
          warn(
            'chain',
            'is read through its public endpoint, which limits requests',
            'set RPC_URL to your own endpoint',
          ),
        ]
      : []),
  ];
}

async function checkContracts({ config, rpc }: Chain): Promise<readonly Finding[]> {
  const contracts = {
    ENTRY_POINT_ADDRESS: config.entryPointAddress,
    DID_REGISTRY_ADDRESS: config.didRegistryAddress,
    ACCOUNT_HELPER_ADDRESS: config.accountHelperAddress,
    SESSION_SBT_ADDRESS: config.sessionSbtAddress,
    HYPERAUTH_FACTORY_ADDRESS: config.hyperauthFactoryAddress,
    ACCOUNT_FACTORY_2_ADDRESS: config.accountFactory2Address,
    USDC_ADDRESS: config.usdcAddress,
  };
  const set = Object.entries(contracts).flatMap(([name, address]) => (address === null ? [] : [{ name, address }]));
  // That the node does not answer is reported once, by the check of the chain.
  if (!(await isAnswering({ config, rpc }))) return [skip('contracts', 'the node at RPC_URL does not answer')];
  const missing = await Promise.all(
    set.map(async ({ name, address }): Promise<readonly Finding[]> => {
      if ((await rpc.call(config.chainId, 'eth_getCode', [address, 'latest'])) !== '0x') return [];
      return [
        fail(
          'contracts',
          `${name}: there is no code at ${address}`,
          'set it to the deployed contract (vault contracts deploy) or to none',
        ),
      ];
    }),
  );
  const found = missing.flat();
  return found.length > 0
    ? found
    : [ok('contracts', `${set.length} of ${Object.keys(contracts).length} set, all with code`)];
}

function isAnswering({ config, rpc }: Chain): Promise<boolean> {
  return rpc.call(config.chainId, 'eth_chainId', []).then(
    () => true,
    () => false,
  );
}

async function checkRegistrar(chain: Chain, address: string): Promise<readonly Finding[]> {
  const { config, rpc } = chain;
  const registry = config.didRegistryAddress;
  const view = { to: registry ?? '', data: `${IS_REGISTRAR}${addressWord(address)}` };
  const [balance, words] = await Promise.all([
    readEtherBalance(chain, address),
    registry === null ? undefined : findWords(rpc, config.chainId, view, 1),
  ]);
  const has = `${address} has ${Value.formatEther(balance)} ether`;
  const least = config.relayMinBalance;
  const funds =
    balance < least
      ? fail('registrar', has, 'send it ether: nothing is relayed below RELAY_MIN_BALANCE')
      : balance < least * BigInt(RELAY_LOW_BALANCE_TIMES_MIN)
        ? warn('registrar', has, 'send it ether soon')
        : ok('registrar', has);
  const edition = registry === null ? [] : [await checkEdition(chain, registry)];
  if (words === undefined) return [funds, ...edition, skip('registrar', 'the registry does not show its registrars')];
  const mayRegister = BigInt(`0x${words[0]}`) === 1n;
  return [
    funds,
    ...edition,
    mayRegister
      ? ok('registrar', 'may register DIDs for others')
      : fail('registrar', 'may not register DIDs', `let the registry's owner call setRegistrar(${address}, true)`),
  ];
}

/** Which edition of the registry the registrar registers in, which decides what a relay brings and costs. */
async function checkEdition(chain: Chain, registry: string): Promise<Finding> {
  const version = await readRegistryVersion(chain, registry);
  if (version === 2)
    return ok('registrar', "the registry is of the second edition: it asks for each passkey's consent");
  return ok('registrar', 'the registry is of the first edition: names and DIDs can be squatted, see docs/contracts.md');
}

/** Selector of `isRegistrar(address)`. */
const IS_REGISTRAR = '0xd5db72eb';

async function checkBundler({ entryPointAddress }: Config, url: string): Promise<readonly Finding[]> {
  const outcome = await createBundler({ ...outside, url }).call('eth_supportedEntryPoints', [], UPSTREAM_TIMEOUT_MS);
  if ('error' in outcome) throw new Error(`it answers with an error: ${outcome.error.message}`);
  const supported = Array.isArray(outcome.result) ? outcome.result.map((one) => String(one).toLowerCase()) : [];
  if (entryPointAddress !== null && !supported.includes(entryPointAddress.toLowerCase()))
    return [
      fail(
        'bundler',
        `does not support ENTRY_POINT_ADDRESS ${entryPointAddress}`,
        'use a bundler that does, or another entry point',
      ),
    ];
  return [ok('bundler', 'answers and supports the entry point')];
}

async function checkIndexer({ chainId }: Config, url: string): Promise<readonly Finding[]> {
  const answer = (await createAskIndexer({ ...outside, url })('health', {})) as { ok?: unknown; chain?: unknown };
  if (Number(answer.chain) !== chainId)
    return [
      fail(
        'indexer',
        `is one of chain ${Number(answer.chain)}`,
        'set INDEXER_URL to an indexer of CHAIN_ID, or unset it',
      ),
    ];
  return [
    answer.ok === true
      ? ok('indexer', 'answers and is healthy')
      : warn('indexer', 'is behind the chain', 'check the indexer'),
  ];
}
