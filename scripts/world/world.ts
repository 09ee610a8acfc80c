import { join } from 'node:path';
import { type Chain, startChain } from './chain.ts';
import { type Deployment, deployContracts } from './deploy.ts';
import { type Inbox, startInbox } from './inbox.ts';
import { type MailCatcher, startMailCatcher } from './mail.ts';
import { freePort } from './ports.ts';

/** Everything around a vault that it would meet on the real internet, on loopback. */
export interface World {
  readonly chain: Chain;
  readonly contracts: Deployment;
  readonly mail: MailCatcher;
  readonly inbox: Inbox;
  /** The settings that lead a vault into this world. */
  readonly vars: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Preferred ports; another is taken where one is not free. */
const PORTS = { chain: 8545, mail: 1025, inbox: 8025 };

/** Starts the chain with the contracts deployed and a mail catcher; the chain goes on where it was in `dir`. `say` is told of each step. */
export async function startWorld(dir: string, say: (text: string) => void): Promise<World> {
  const chain = await startChain({ port: freePort(PORTS.chain), stateFile: join(dir, 'chain.json') });
  say(`chain      ${chain.url} (anvil, chain 84532)`);
  const contracts = await deployContracts(chain.rpc);
  say(`registry   ${contracts.didRegistry}`);
  const mail = await startMailCatcher({ port: freePort(PORTS.mail) });
  const inbox = startInbox({ port: freePort(PORTS.inbox), read: () => mail.messages });
  say(`mail       ${mail.url}, read it at ${inbox.url}`);
  const vars = {
    CHAIN_ID: '84532',
    RPC_URL: chain.url,
    DID_REGISTRY_ADDRESS: contracts.didRegistry,
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'Vault <vault@localhost.test>',
    SMTP_URL: mail.url,
  };
  const stop = async () => {
    await Promise.all([inbox.stop(), mail.stop(), chain.stop()]);
  };
  return { chain, contracts, mail, inbox, vars, stop };
}
