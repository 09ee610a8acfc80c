import * as Value from 'ox/Value';
import { addressWord, findWords, readQuantity } from '../chain/contract-call.ts';
import { readRegistryVersion } from '../chain/registry-version.ts';
import { readEtherBalance } from '../chain/signer-state.ts';
import type { Config } from '../config/config.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN } from '../constants.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';
import type { Examined, ExaminedChain } from './host.ts';
import type { StoredFacts } from './stored.ts';

/** Checks that the registrar can pay. */
export async function checkFunds(
  chain: ExaminedChain,
  address: string,
  stored: Examined['stored'],
): Promise<readonly Finding[]> {
  const [balance, facts] = await Promise.all([readEtherBalance(chain, address), stored?.().catch(() => undefined)]);
  const outlook = facts && (await readOutlook(chain, balance, facts));
  return [judgeFunds(chain.config, `${address} has ${Value.formatEther(balance)} ether`, balance, outlook)];
}

/** Checks that the registrar may register, and in which edition of the registry. */
export async function checkRegistrar(chain: ExaminedChain, address: string): Promise<readonly Finding[]> {
  const { config, rpc } = chain;
  const { didRegistryAddress: registry } = config;
  if (registry === null) return [];
  const view = { to: registry, data: `${IS_REGISTRAR}${addressWord(address)}` };
  const [words, edition] = await Promise.all([findWords(rpc, config.chainId, view, 1), checkEdition(chain, registry)]);
  if (words === undefined) return [edition, skip('registrar', 'the registry does not show its registrars')];
  const mayRegister = BigInt(`0x${words[0]}`) === 1n;
  return [
    edition,
    mayRegister
      ? ok('registrar', 'may register DIDs for others')
      : fail('registrar', 'may not register DIDs', `let the registry's owner call setRegistrar(${address}, true)`),
  ];
}

/** How far the balance reaches. */
interface Outlook {
  readonly registrations: number;
  /** At the rate of the last seven days; undefined without one. */
  readonly days: number | undefined;
}

/** By the gas of the newest transactions and the price of now; undefined before the first. */
async function readOutlook(
  { config, rpc }: ExaminedChain,
  balance: bigint,
  { relaysOfWeek, relayGas }: StoredFacts,
): Promise<Outlook | undefined> {
  if (relayGas === undefined || relayGas === 0) return undefined;
  const price = readQuantity(await rpc.call(config.chainId, 'eth_gasPrice', []));
  const cost = BigInt(relayGas) * price;
  const left = balance - config.relayMinBalance;
  if (cost === 0n || left < 0n) return undefined;
  const registrations = Number(left / cost);
  return { registrations, days: relaysOfWeek === 0 ? undefined : Math.floor(registrations / (relaysOfWeek / 7)) };
}

function judgeFunds(config: Config, has: string, balance: bigint, outlook: Outlook | undefined): Finding {
  const least = config.relayMinBalance;
  if (balance < least) return fail('registrar', has, 'send it ether: nothing is relayed below RELAY_MIN_BALANCE');
  const text = outlook === undefined ? has : `${has}: ${describeOutlook(outlook)}`;
  const isShort = (outlook?.days ?? DAYS_SHORT) < DAYS_SHORT;
  if (isShort || balance < least * BigInt(RELAY_LOW_BALANCE_TIMES_MIN))
    return warn('registrar', text, 'send it ether soon');
  return ok('registrar', text);
}

/** With fewer days left it is time to send more. */
const DAYS_SHORT = 7;

function describeOutlook({ registrations, days }: Outlook): string {
  const enough = `enough for about ${registrations} registrations`;
  if (days === undefined) return `${enough}; none was relayed in the last 7 days`;
  return `${enough}, ${days} ${days === 1 ? 'day' : 'days'} at the rate of the last 7 days`;
}

/** Reports the edition of the registrar's registry, on which the effect and the cost of a relay depend. */
async function checkEdition(chain: ExaminedChain, registry: string): Promise<Finding> {
  const version = await readRegistryVersion(chain, registry);
  if (version === 2)
    return ok('registrar', "the registry is of the second edition: it asks for each passkey's consent");
  return ok('registrar', 'the registry is of the first edition: names and DIDs can be squatted, see docs/contracts.md');
}

/** Selector of `isRegistrar(address)`. */
const IS_REGISTRAR = '0xd5db72eb';
