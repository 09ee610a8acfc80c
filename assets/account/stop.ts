// Stops a recovery: the passkey signs, and the vault carries it to the network and pays.

import { dataOf, typedDigest } from '../../client/wallet/abi.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { askPasskey } from '../../client/wallet/passkey.ts';
import { word } from '../words/words.ts';
import { readFacts } from './facts.ts';
import type { Signed } from './home.ts';
import { keysOf } from './home.ts';
import { ask, VaultRefusal } from './http.ts';
import { perform, showDone } from './perform.ts';
import { guard } from './problem.ts';
import { prove } from './prove.ts';
import { loading } from './view.ts';
import { said } from './words.ts';

/** How long the page waits for the network before it says that the veto is on its way. */
const WAIT_MS = 60_000;

/** Stops the pending recovery. */
export function stop(signed: Signed, back: () => void, noPasskey: (words: string) => void): void {
  guard(() => veto(signed, back), { again: () => stop(signed, back, noPasskey), noPasskey });
}

async function veto(signed: Signed, back: () => void): Promise<void> {
  const { account, config, enclave, facts } = signed;
  const { recovery } = facts;
  const own = keysOf(signed).find(({ isHere }) => isHere);
  if (!recovery || !own) return back();
  const domain = { chainId: config.chainId, account: account.address };
  const type = 'VetoRecovery(uint32 id,uint256 x,uint256 y)';
  const digest = typedDigest(enclave.keccak256, domain, type, [BigInt(recovery.id), recovery.x, recovery.y]);
  const assertion = await askPasskey(config.rpId, digest, [account.credentialId]);
  const index = own.index.toString(16).padStart(2, '0');
  const signature: Hex = `0x${index}${enclave.packAssertion(assertion).slice(2)}`;
  loading(word('stop.loading'));
  try {
    await ask('POST /api/recoveries/vetoes', { smartAccount: account.address, signature });
  } catch (error) {
    if (!(error instanceof VaultRefusal) || error.code === 'veto_invalid') throw error;
    // The owner needs no vault for this.
    return cancelAlone(signed, back);
  }
  await awaitEnd(signed);
}

async function awaitEnd({ account, facts }: Signed): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (Date.now() < end) {
    const now = await readFacts(account.address).catch(() => facts);
    if (now.recovery?.id !== facts.recovery?.id) return showDone(said('stopped'), '');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  showDone([word('stopping.title'), word('stopping.by_passkey')], '');
}

/** The same as a change of the account, which it pays for itself where no sponsor does. */
function cancelAlone(signed: Signed, back: () => void): void {
  const { account, enclave } = signed;
  perform(
    signed,
    account,
    {
      title: word('stop.title'),
      words: word('stop.words'),
      button: word('stop.go'),
      calls: [{ to: account.address, value: 0n, data: dataOf(enclave.keccak256, 'cancelRecovery()') }],
      progress: word('stop.progress'),
      done: said('stopped'),
      detail: { call: 'cancelRecovery' },
    },
    back,
  );
}

/** The same by a code, for a person who has no passkey at hand: the vault takes its proposal back. */
export function stopByMail(account: string, back: () => void): void {
  const words = word('stop.mail_words');
  prove({ title: word('stop.mail'), words, back }, async (attestation) => {
    loading(word('stop.loading'));
    await ask('POST /api/recoveries/cancellations', { attestation, smartAccount: account });
    showDone([word('stopping.title'), word('stopping.by_mail')], '');
  });
}
