import { MINUTE_MS } from '../base/clock.ts';
import { createMetrics } from '../base/metrics.ts';
import { once } from '../base/once.ts';
import { isPublicHost } from '../base/public-address.ts';
import { createBundler } from '../bundler/client.ts';
import { ACCOUNT_KINDS } from '../chain/account.ts';
import { factoryOf } from '../chain/account-factory.ts';
import { readQuantity } from '../chain/contract-call.ts';
import { readP256Precompile, takesBadSignatures } from '../chain/p256.ts';
import { createRpc } from '../chain/rpc.ts';
import { signerAddress } from '../chain/transaction.ts';
import { createWitness, createWitnessFacts } from '../chain/witness.ts';
import { CHAINS } from '../config/chain-settings.ts';
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { createAskIndexer } from '../indexer/graphql-client.ts';
import { checkAccounts, checkEntryPointVersion, checkFormerFactories } from './accounts.ts';
import { CLOCK_SKEW_FAIL_MS, checkClock, judgeClock } from './clock.ts';
import { type ContractSetting, checkContracts, missingContracts } from './contracts.ts';
import { type CheckName, type DoctorCheck, type Finding, fail, ok, skip, warn } from './finding.ts';
import { checkGuardian } from './guardian.ts';
import type { Examined, ExaminedChain, Outside } from './host.ts';
import { checkLooks } from './looks.ts';
import { checkTokens, checkWitness } from './nodes.ts';
import { checkFunds, checkRegistrar } from './registrar.ts';
import type { StoredFacts } from './stored.ts';

const CHAIN_SILENT_MS = 10 * MINUTE_MS;

/** Checks of clock, chain, contracts, registrar, guardian, bundler and indexer. */
export function chainChecks(examined: Examined): readonly DoctorCheck[] {
  const { config, fetch, clock, stored } = examined;
  // Metrics of its own, so that the doctor's calls are not counted as the vault's.
  const outside: Outside = { fetch, clock, metrics: createMetrics(), log: () => undefined };
  const rpc = createRpc({ ...outside, urls: { [config.chainId]: config.rpcUrl } });
  const witness = createWitness({ ...outside, config }, createWitnessFacts());
  const chain = { ...outside, config, rpc, witness };
  const { registrarPrivateKey: key, guardianPrivateKey: guardian, bundlerUrl, indexerUrl, usdcAddress: usdc } = config;
  const { didRegistryAddress: registry } = config;
  const checks: DoctorCheck[] = [
    { name: 'clock', remedy: NODE, run: () => checkClock(outside, examined) },
    { name: 'chain', remedy: NODE, run: () => checkChain(chain) },
    { name: 'contracts', remedy: NODE, run: async () => checkEntryPointVersion(config) },
  ];
  const answers = once(() => isAnswering(chain));
  const unchecked = new Set<CheckName>();
  // What only the node knows is named once, beside the finding that it does not answer.
  checks.push({
    name: 'chain',
    remedy: NODE,
    run: async () => {
      if ((await answers()) || unchecked.size === 0) return [];
      return [skip('chain', `not checked without this node: ${[...unchecked].join(', ')}`)];
    },
  });
  const onNode = (name: CheckName, look: () => Promise<readonly Finding[]>) => {
    unchecked.add(name);
    checks.push({ name, remedy: NODE, run: async () => ((await answers()) ? look() : []) });
  };
  const missing = once(() => missingContracts(chain));
  // Checks of a contract that is missing are skipped, since that is reported once.
  const onContract = (name: CheckName, contract: ContractSetting, look: () => Promise<readonly Finding[]>) =>
    onNode(name, async () =>
      (await missing()).includes(contract) ? [skip(name, `there is no contract at ${contract}`)] : look(),
    );
  onNode('contracts', async () => checkContracts(chain, await missing()));
  if (witness) {
    const remedy = 'check the node at RPC_WITNESS_URL';
    checks.push({ name: 'witness', remedy, run: () => checkWitness(chain, witness) });
  }
  if (ACCOUNT_KINDS.some((kind) => factoryOf(config, kind) !== null)) onNode('accounts', () => checkP256(chain));
  for (const kind of ACCOUNT_KINDS)
    if (factoryOf(config, kind) !== null) onNode('accounts', () => checkAccounts(chain, kind));
  if (config.accountFactoriesFormer.length > 0) onNode('accounts', () => checkFormerFactories(chain));
  if (usdc !== null) onContract('tokens', 'USDC_ADDRESS', () => checkTokens(chain, usdc));
  if (registry !== null)
    checks.push({ name: 'looks', remedy: NODE, run: async () => checkLooks(config, await readStored(stored)) });
  if (key !== undefined) {
    const address = signerAddress(key);
    onNode('registrar', () => checkFunds(chain, address, stored));
    onContract('registrar', 'DID_REGISTRY_ADDRESS', () => checkRegistrar(chain, address));
  }
  if (guardian !== undefined) onNode('guardian', () => checkGuardian(chain, signerAddress(guardian)));
  if (bundlerUrl !== undefined) {
    const remedy = 'check the bundler at BUNDLER_URL';
    checks.push({ name: 'bundler', remedy, run: () => checkBundler(outside, config, bundlerUrl) });
  }
  if (indexerUrl !== undefined) {
    const remedy = 'check the indexer at INDEXER_URL';
    checks.push({ name: 'indexer', remedy, run: () => checkIndexer(outside, config, indexerUrl) });
  }
  return checks;
}

/** The facts in the database; undefined also where it cannot be read, which its own check reports. */
async function readStored(stored: Examined['stored']): Promise<StoredFacts | undefined> {
  return stored?.().catch(() => undefined);
}

const NODE = 'check the node at RPC_URL, or set another one';

async function checkChain({ config, rpc, clock }: ExaminedChain): Promise<readonly Finding[]> {
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
  const age = clock.now() - Number(readQuantity(timestamp)) * 1000;
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

/**
 * Checks the verifier of passkeys' signatures: the precompile, or Solidity, which is expensive. It must refuse a wrong
 * one.
 */
async function checkP256(chain: ExaminedChain): Promise<readonly Finding[]> {
  if (await takesBadSignatures(chain)) {
    const remedy = 'use another chain: on this one anybody can empty every account, with any factory';
    return [fail('accounts', 'the code at 0x100 on this chain accepts a wrong P-256 signature', remedy)];
  }
  if (await readP256Precompile(chain)) return [];
  const text = 'the chain has no precompile for P-256: each signature of a passkey costs some 250,000 gas more';
  return [warn('accounts', text, 'nothing, or use a chain that has it (RIP-7212, EIP-7951)')];
}

function isAnswering({ config, rpc }: Pick<ExaminedChain, 'config' | 'rpc'>): Promise<boolean> {
  return rpc.call(config.chainId, 'eth_chainId', []).then(
    () => true,
    () => false,
  );
}

async function checkBundler(outside: Outside, config: Config, url: string): Promise<readonly Finding[]> {
  const { entryPointAddress, bundlerSenders } = config;
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
  const works = ok('bundler', 'answers and supports the entry point');
  return bundlerSenders === 'any' && !isPublicHost(new URL(url).hostname)
    ? [works, warn('bundler', UNSAFE, SAFE)]
    : [works];
}

const UNSAFE =
  'it is on this machine or network, and anybody may send to it: where it allows what ERC-7562 forbids, strangers make its key pay for operations that fail, again and again';
const SAFE = 'run it in safe mode or take a provider, or set BUNDLER_SENDERS=own (docs/operating.md)';

async function checkIndexer(outside: Outside, { chainId }: Config, url: string): Promise<readonly Finding[]> {
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
