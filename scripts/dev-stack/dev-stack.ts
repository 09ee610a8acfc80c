import { join } from 'node:path';
import { type Bundler, startBundler } from './bundler.ts';
import { type Chain, startChain } from './chain.ts';
import { type Deployment, deployContracts } from './deploy.ts';
import { deployEntryPoints } from './entrypoints.ts';
import { type Inbox, startInbox } from './inbox.ts';
import { type MailCatcher, startMailCatcher } from './mail.ts';
import { placeMulticall } from './multicall.ts';
import { type Paymaster, startPaymaster } from './paymaster.ts';
import { freeOr, startNear } from './port.ts';
import { type SmsProvider, smsVars, startSmsProvider } from './sms.ts';
import { placeUsdc } from './usdc.ts';
import { devAccount } from './wallet.ts';

/** Everything around a vault that it would meet on the real internet, on loopback. */
export interface DevStack {
  readonly chain: Chain;
  readonly contracts: Deployment;
  readonly bundler: Bundler;
  readonly paymaster: Paymaster;
  readonly mail: MailCatcher;
  readonly sms: SmsProvider;
  readonly inbox: Inbox;
  /** The settings that lead a vault into this dev stack. */
  readonly vars: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Preferred ports; another is taken where one is not free. */
const PORTS = { chain: 8545, paymaster: 4337, bundler: 4338, mail: 1025, sms: 1026, inbox: 8025 };

/**
 * Starts a chain with everything a passkey's account needs, and the catchers of mails and SMS. The chain goes on where
 * it was in `dir`, where the bundler's log is too. `say` prints each step. When a part fails, or `stop` is aborted,
 * ends what it started and rejects: between two steps, so that none begins that nobody waits for.
 */
export async function startDevStack(dir: string, say: (text: string) => void, stop?: AbortSignal): Promise<DevStack> {
  const parts: Part[] = [];
  const add = <P extends Part>(part: P): P => {
    parts.push(part);
    stop?.throwIfAborted();
    return part;
  };
  const end = async () => {
    for (const part of parts.toReversed()) await part.stop();
  };
  const step = (text: string) => {
    say(text);
    stop?.throwIfAborted();
  };
  try {
    return { ...(await startParts(dir, step, add)), stop: end };
  } catch (error) {
    await end();
    throw error;
  }
}

interface Part {
  stop(): Promise<void>;
}

async function startParts(
  dir: string,
  say: (text: string) => void,
  add: <P extends Part>(part: P) => P,
): Promise<Omit<DevStack, 'stop'>> {
  const stateFile = join(dir, 'chain.json');
  const chain = add(await startNear(PORTS.chain, (port) => startChain({ port, stateFile })));
  say(`chain      ${chain.url} (anvil, chain 84532)`);
  const contracts = await deployContracts(chain.rpc);
  await deployEntryPoints(chain.rpc);
  await placeUsdc(chain.rpc);
  await placeMulticall(chain.rpc);
  say(`contracts  registry ${contracts.didRegistry}, accounts ${contracts.accountFactory}`);
  const logFile = join(dir, 'bundler.log');
  const bundler = add(await startNear(PORTS.bundler, (port) => startBundler({ rpcUrl: chain.url, port, logFile })));
  const paymaster = add(
    await startPaymaster({ node: chain.rpc, bundlerUrl: bundler.url, port: freeOr(PORTS.paymaster) }),
  );
  say(`bundler    ${paymaster.url} (a paymaster, and alto behind it)`);
  const mail = add(await startMailCatcher({ port: freeOr(PORTS.mail) }));
  const sms = add(await startSmsProvider({ port: freeOr(PORTS.sms), sendsMax: SMS_SENDS_MAX }));
  const read = () => [...mail.messages, ...sms.messages];
  const inbox = add(await startInbox({ port: freeOr(PORTS.inbox), read }));
  say(`mail       ${mail.url}, and SMS at ${sms.url}: read both at ${inbox.url}`);
  const vars = {
    ...chainVars(chain, contracts),
    GUARDIAN_PRIVATE_KEY: devAccount('guardian').privateKey,
    CHAIN_NAME: 'Local test network',
    // No explorer has this chain's transactions.
    EXPLORER_URL: 'none',
    BUNDLER_URL: paymaster.url,
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'Vault <vault@localhost.test>',
    SMTP_URL: mail.url,
    ...smsVars(sms.url),
    ...WIDE_LIMITS,
  };
  return { chain, contracts, bundler, paymaster, mail, sms, inbox, vars };
}

/** The vault's own limit is the one that a developer meets, and can clear. */
const SMS_SENDS_MAX = 1_000;

/**
 * Limits that a developer does not meet: every request comes from one address, and many are to one. SMS to one number
 * stay limited, as an example.
 */
const WIDE_LIMITS = {
  MAX_REGISTRATIONS_PER_IP: '100000',
  MAX_VERIFY_SENDS_PER_IP: '10000',
  RATE_LIMIT_CODES_PER_IDENTIFIER: '10000',
  RATE_LIMIT_PROXY_PER_IP: '100000',
  RATE_LIMIT_READS_PER_IP: '100000',
  RATE_LIMIT_WRITES_PER_IP: '100000',
  EMAIL_DAILY_MAX: '1000000',
  SMS_DAILY_MAX: '1000000',
  RELAY_DAILY_MAX: '100000',
  SPONSOR_DAILY_MAX: '1000000',
  // A local chain asks a hundred times what Base does.
  SPONSOR_MAX_FEE: '0.02',
  SPONSOR_DAILY_WEI: '1000',
};

/** The settings of a vault on a local chain; its registrar may register for others. */
export function chainVars(chain: Pick<Chain, 'url'>, contracts: Deployment): Record<string, string> {
  return {
    CHAIN_ID: '84532',
    RPC_URL: chain.url,
    ENTRY_POINT_ADDRESS: contracts.entryPoint,
    DID_REGISTRY_ADDRESS: contracts.didRegistry,
    HYPERAUTH_FACTORY_ADDRESS: contracts.accountFactory,
    ACCOUNT_FACTORY_2_ADDRESS: contracts.accountFactory2,
    ACCOUNT_HELPER_ADDRESS: contracts.accountHelper,
    SESSION_SBT_ADDRESS: 'none',
    REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
  };
}
