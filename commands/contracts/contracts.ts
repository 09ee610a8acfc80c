import * as Address from 'ox/Address';
import type { Hex } from 'ox/Hex';
import * as Value from 'ox/Value';
import { KNOWN_ENTRY_POINTS } from '../../client/known-accounts.ts';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import {
  DEPLOYMENT_PROXY,
  type DeploymentParties,
  type PlannedContract,
  planDeployment,
} from '../../lib/chain/deployment.ts';
import { signerAddress } from '../../lib/chain/transaction.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import * as place from '../../lib/config/url-parsers.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, DRY_RUN, HELP, JSON_OUTPUT, option } from '../cli/options.ts';
import { print } from '../cli/print.ts';
import { checkSettings, previewSettings } from '../setup/settings.ts';
import { type Node, openNode } from './deployer.ts';
import { checkLegacyUntil, findLegacy } from './legacy.ts';

/** `vault contracts deploy`. */
export const contractsDeployCommand: Command = {
  summary: "deploys the contracts to RPC_URL's chain and prints the settings to use; DEPLOYER_PRIVATE_KEY pays",
  options: [
    CONFIG,
    option('--owner <address>', 'the account that appoints registrars [the account that pays]'),
    option('--registrar <address>', 'the first registrar [the account of REGISTRAR_PRIVATE_KEY, else none]'),
    option('--registry <edition>', '2, or 1 for the first registry, which asks for no consent [2]', ['1', '2']),
    option(
      '--legacy-registry <address>',
      'the first registry that the second one follows [DID_REGISTRY_ADDRESS, or none]',
    ),
    DRY_RUN,
    JSON_OUTPUT,
    HELP,
  ],
  usesSettings: true,
  settings: [
    'RPC_URL',
    'CHAIN_ID',
    'DEPLOYER_PRIVATE_KEY',
    'REGISTRAR_PRIVATE_KEY',
    'ENTRY_POINT_ADDRESS',
    'DID_REGISTRY_ADDRESS',
    'REGISTRY_LEGACY_UNTIL',
  ],
  examples: ['vault contracts deploy --dry-run --config /etc/vault/vault.env'],
  run: deployContracts,
};

/**
 * Deploys the contracts that are missing on the chain and prints the settings to use; `--dry-run` only prints what it
 * would do. It can be stopped and run again at any point: a contract's address follows from its code, so deployed ones
 * are found.
 */
async function deployContracts(given: Arguments): Promise<number> {
  const isJson = given.options['json'] !== undefined;
  const say: Say = (...lines) => void (isJson || print(lines.join('\n')));
  const order = readOrder(given);
  const node = openNode(order.chainId, order.rpcUrl);
  await checkChain(node, order);
  const { payer, privateKey } = order;
  const parties = { ...order.parties, ...(await findLegacy(node, order)) };
  const waiting = () => say(`Waiting for transactions of ${payer} …`);
  const nonce = privateKey === undefined ? 0 : await node.nextNonce(payer, waiting);
  const plan = planDeployment(creationCode, parties);
  await checkLegacyUntil(node, parties.legacyUntil, plan[0]);
  const found = await Promise.all(plan.map((one) => findStep(node, order, one)));
  say(...describeOrder({ ...order, parties }), ...found.map(describeStep));
  const missing = found.filter(({ state }) => state === 'missing');
  if (missing.length > 0) await checkFunds(node, order, missing, say);
  const steps = privateKey === undefined ? found : await deployMissing(node, privateKey, nonce, found, say);
  const settings = settingsOf({ ...order, parties }, steps);
  say('', 'Settings for a vault on this chain:', ...Object.entries(settings).map((setting) => setting.join('=')));
  if (isJson)
    print(JSON.stringify({ ...factsOf({ ...order, parties }), contracts: steps.map(factsOfStep), settings }, null, 2));
  return 0;
}

type Say = (...lines: readonly string[]) => void;

/** The deployment's order. Without a key nothing is sent. */
interface Order {
  readonly chainId: number;
  readonly chainName: string;
  readonly rpcUrl: string;
  readonly parties: DeploymentParties;
  readonly payer: Address.Address;
  readonly privateKey: Hex | undefined;
  /** The registry that the settings name, and when it opens, as an earlier run has said. */
  readonly configured: Address.Address | null;
  readonly legacyUntil: number | undefined;
}

/** A contract as it was found on the chain, and its outcome; `gas` is that of its deployment. */
interface Step extends PlannedContract {
  readonly state: 'there' | 'missing' | 'deployed';
  readonly gas: bigint;
  readonly transaction?: string;
}

function readOrder(given: Arguments): Order {
  const { settings } = previewSettings(given);
  // Without the registrar's key, which demands the very contracts that are still to come.
  const { REGISTRAR_PRIVATE_KEY: registrarKey, ...vars } = settings.vars;
  const config = checkSettings({ vars, sources: settings.sources });
  const { chainId, chainName, rpcUrl, deployerPrivateKey, entryPointAddress } = config;
  const payer = deployerPrivateKey && addressOf(deployerPrivateKey);
  const owner = readAddress(given, 'owner') ?? payer;
  const dryRun = given.options['dry-run'] !== undefined;
  if (owner === undefined || !(payer || dryRun)) throw new UsageError(dryRun ? NO_OWNER : NO_KEY);
  const registrar = readAddress(given, 'registrar') ?? registrarOf(registrarKey);
  const registry = readEdition(given);
  const legacyRegistry = readAddress(given, 'legacy-registry');
  const parties = {
    entryPoint: entryPointAddress ?? KNOWN_ENTRY_POINTS[0],
    owner,
    registrar,
    registry,
    legacyRegistry,
  } as const;
  const privateKey = dryRun ? undefined : deployerPrivateKey;
  const { didRegistryAddress: configured, registryLegacyUntil: legacyUntil } = config;
  return { chainId, chainName, rpcUrl, parties, payer: payer ?? owner, privateKey, configured, legacyUntil };
}

const NO_KEY =
  'Set DEPLOYER_PRIVATE_KEY to the key of the account that pays, or DEPLOYER_PRIVATE_KEY_FILE to a file that contains it.';
const NO_OWNER = 'Set DEPLOYER_PRIVATE_KEY, or give the owner of the registry with --owner.';

function readEdition({ options: { registry = '2' } }: Arguments): 1 | 2 {
  if (registry === '1' || registry === '2') return Number(registry) as 1 | 2;
  throw new UsageError('--registry must be 1 or 2.');
}

function readAddress({ options }: Arguments, option: string): Address.Address | undefined {
  const text = options[option];
  if (text === undefined) return undefined;
  const reading = place.address(text);
  if ('value' in reading && reading.value) return reading.value;
  throw new UsageError(`--${option} must be an address: 0x and 40 hex digits, a correct checksum where in mixed case.`);
}

function registrarOf(key: string | undefined): Address.Address | undefined {
  const reading = SETTINGS.REGISTRAR_PRIVATE_KEY.parser(key);
  if ('problem' in reading) throw new UsageError(`REGISTRAR_PRIVATE_KEY ${reading.problem}.`);
  return reading.value && addressOf(reading.value);
}

function addressOf(privateKey: Hex): Address.Address {
  return Address.checksum(signerAddress(privateKey) as Address.Address);
}

/** Refuses another chain than the one named, and one that lacks what the contracts need. */
async function checkChain(node: Node, { chainId, parties: { entryPoint } }: Order): Promise<void> {
  const found = await node.chainId();
  if (found !== chainId)
    throw new UsageError(
      `RPC_URL is an endpoint of chain ${found}, but CHAIN_ID is ${chainId}: set both to the same chain.`,
    );
  const [hasProxy, hasEntryPoint] = await Promise.all([DEPLOYMENT_PROXY, entryPoint].map(node.hasCode));
  if (!hasProxy)
    throw new Error(
      `chain ${chainId} has no deployment proxy at ${DEPLOYMENT_PROXY}: deploy it first, see https://github.com/Arachnid/deterministic-deployment-proxy`,
    );
  if (!hasEntryPoint)
    throw new Error(`chain ${chainId} has no EntryPoint at ${entryPoint}: set ENTRY_POINT_ADDRESS to the one it has`);
}

async function findStep(node: Node, { payer }: Order, contract: PlannedContract): Promise<Step> {
  if (await node.hasCode(contract.address)) return { ...contract, state: 'there', gas: 0n };
  return { ...contract, state: 'missing', gas: await node.gas(payer, contract) };
}

/** Throws before anything is sent when the payer could not pay for everything. */
async function checkFunds(node: Node, { payer, privateKey }: Order, missing: readonly Step[], say: Say): Promise<void> {
  const [{ maxFee }, balance] = await Promise.all([node.fees(), node.balance(payer)]);
  const cost = missing.reduce((sum, { gas }) => sum + gas * maxFee, 0n);
  const words = `This costs at most ${Value.formatEther(cost)} ether, plus a rollup's fee for data; ${payer} has ${Value.formatEther(balance)}`;
  if (privateKey && balance < cost) throw new Error(`not enough ether. ${words}.`);
  say('', `${words}.`);
}

/** Deploys one contract after the other, each only once the one before it is there. */
async function deployMissing(
  node: Node,
  privateKey: Hex,
  firstNonce: number,
  found: readonly Step[],
  say: Say,
): Promise<Step[]> {
  let nonce = firstNonce;
  const steps: Step[] = [];
  for (const step of found) {
    if (step.state === 'missing') {
      say(`Deploying ${step.name} …`);
      const transaction = await node.deploy(privateKey, nonce++, step, step.gas);
      say(`${step.name} is at ${step.address}, transaction ${transaction}`);
      steps.push({ ...step, state: 'deployed', transaction });
    } else steps.push(step);
  }
  return steps;
}

function describeOrder({ chainId, chainName, parties: { entryPoint, owner, registrar, ...more } }: Order): string[] {
  const parties = [`owner ${owner}`, `registrar ${registrar ?? 'none'}`, `EntryPoint ${entryPoint}`];
  if (more.registry === 2) parties.push(`first registry that is followed ${more.legacyRegistry ?? 'none'}`);
  if (more.legacyUntil !== undefined)
    parties.push(
      `names and DIDs of others from ${new Date(more.legacyUntil * 1000).toISOString()} on: to go on after a stop, set REGISTRY_LEGACY_UNTIL=${more.legacyUntil}`,
    );
  return [`${chainName} (${chainId})`, ...parties.map((party) => `  ${party}`), ''];
}

function describeStep({ name, address, state, gas }: Step): string {
  return `${name.padEnd(16)}${address}  ${state === 'there' ? 'already deployed' : `missing, ${gas} gas`}`;
}

/** Under the names of the vault's settings. */
function settingsOf({ chainId, parties }: Order, steps: readonly Step[]): Record<string, string> {
  const { entryPoint, legacyUntil } = parties;
  const addresses = steps.map(({ setting, address }) => [setting, address] as const);
  const legacy = legacyUntil === undefined ? {} : { REGISTRY_LEGACY_UNTIL: `${legacyUntil}` };
  return { CHAIN_ID: `${chainId}`, ENTRY_POINT_ADDRESS: entryPoint, ...Object.fromEntries(addresses), ...legacy };
}

function factsOf({ chainId, payer, parties: { entryPoint, owner, registrar, legacyRegistry, legacyUntil } }: Order) {
  const facts = { chainId, payer, owner, registrar: registrar ?? null, entryPoint };
  return { ...facts, legacyRegistry: legacyRegistry ?? null, legacyUntil: legacyUntil ?? null };
}

function factsOfStep({ name, address, state, transaction }: Step) {
  return { name, address, state, transaction: transaction ?? null };
}
