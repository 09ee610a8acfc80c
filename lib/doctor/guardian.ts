import * as Value from 'ox/Value';
import type { Rpc } from '../chain/rpc.ts';
import { readEtherBalance } from '../chain/signer-state.ts';
import type { Config } from '../config/config.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN } from '../constants.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Checks that the guardian can pay, and that the mails which guard its recoveries are sent. */
export async function checkGuardian(
  chain: { readonly config: Config; readonly rpc: Rpc },
  address: string,
): Promise<readonly Finding[]> {
  const { relayMinBalance: least, emailProvider } = chain.config;
  const balance = await readEtherBalance(chain, address);
  const has = `${address} has ${Value.formatEther(balance)} ether`;
  const funds =
    balance < 2n * least
      ? fail('guardian', has, 'send it ether: no recovery is started below twice RELAY_MIN_BALANCE')
      : balance < least * BigInt(RELAY_LOW_BALANCE_TIMES_MIN)
        ? warn('guardian', has, 'send it ether soon')
        : ok('guardian', has);
  const mails =
    emailProvider === 'none'
      ? fail(
          'guardian',
          'no notice of a recovery is sent: EMAIL_PROVIDER is none',
          'set an EMAIL_PROVIDER that sends mail',
        )
      : ok('guardian', 'its recoveries are mailed to those concerned; keep its key, which accounts name');
  return [funds, mails];
}
