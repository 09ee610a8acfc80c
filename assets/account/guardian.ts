// Recovery by email: set it up, name a second address for warnings, turn it off.

import { dataOf } from '../../client/wallet/abi.ts';
import { identifierHash } from '../../client/wallet/proof.ts';
import { word } from '../words/words.ts';
import { hex } from './facts.ts';
import { daysOf } from './format.ts';
import type { Signed } from './home.ts';
import { ask } from './http.ts';
import { leaveForm, perform, showDone } from './perform.ts';
import { guard, ProblemError } from './problem.ts';
import { type Attestation, prove } from './prove.ts';
import { touch } from './touch.ts';
import { element, loading, onSubmit, show } from './view.ts';

const DAY = 86_400;

/** Sets recovery up, or changes it: address, waiting time, and the owner's signature on the network. */
export function setUp(signed: Signed, back: () => void): void {
  const words = word('guard.words');
  prove({ title: word('guard.title'), words, back }, async (attestation) => askDelay(signed, attestation, back));
}

function askDelay(signed: Signed, attestation: Attestation, back: () => void): void {
  onSubmit('delay-form', () =>
    guard(
      async () => {
        const chosen = document.querySelector<HTMLInputElement>('input[name="days"]:checked');
        const withSecond = element<HTMLInputElement>('second').checked;
        await confirmGuardian(signed, attestation, Number(chosen?.value ?? 3) * DAY, withSecond ? 'contact' : '', back);
      },
      { again: () => setUp(signed, back) },
    ),
  );
  show('delay');
}

async function confirmGuardian(
  signed: Signed,
  attestation: Attestation,
  delay: number,
  next: string,
  back: () => void,
): Promise<void> {
  const { account, enclave, contracts } = signed;
  loading(word('asking'));
  const given = await ask<{ guardian: unknown; delaySecondsMin: number; commitment: unknown }>(
    'POST /api/recoveries/commitments',
    { attestation, smartAccount: account.address },
  );
  const [guardian, commitment] = [hex(given.guardian, 20), hex(given.commitment, 32)];
  // The address that the owner signs for is the one that the vault names everywhere.
  if (guardian !== contracts.guardian) throw new ProblemError('refused', 'The vault names two guardians.');
  const seconds = Math.max(delay, given.delaySecondsMin);
  const args = [guardian, BigInt(seconds), commitment] as const;
  const data = dataOf(enclave.keccak256, 'setGuardian(address,uint32,bytes32)', args);
  perform(
    signed,
    account,
    {
      title: word('guard.confirm'),
      words: word('guard.confirm_words', { address: attestation.identifier, days: daysOf(seconds) }),
      button: word('guard.go'),
      calls: [{ to: account.address, value: 0n, data }],
      progress: word('guard.progress'),
      done: [
        word('guard.done'),
        word('guard.done_words', {
          address: account.address,
        }),
      ],
      next,
      detail: { call: 'setGuardian', guardian, delay: seconds, commitment },
    },
    back,
  );
}

/** Turns recovery off. */
export function turnOff(signed: Signed, back: () => void): void {
  const { account, enclave } = signed;
  const data = dataOf(enclave.keccak256, 'setGuardian(address,uint32,bytes32)', [0n, 0n, 0n]);
  perform(
    signed,
    account,
    {
      title: word('unguard.title'),
      words: word('unguard.words'),
      button: word('unguard.go'),
      calls: [{ to: account.address, value: 0n, data }],
      progress: word('unguard.progress'),
      done: [word('unguard.done'), word('unguard.done_words')],
      detail: { call: 'setGuardian', guardian: '0x0' },
    },
    back,
  );
}

/** Names a second address that is warned of recoveries, too; the passkey signs for it. */
export function nameContact(signed: Signed, back: () => void): void {
  const words = word('contact.words');
  prove({ title: word('contact.title'), words, back }, async (attestation) => {
    const { account, config, contracts, enclave } = signed;
    const { x: pubKeyX, y: pubKeyY, address: smartAccount } = account;
    const hash = identifierHash(enclave.keccak256, attestation);
    const about = ['vault/recovery-contact/v2', contracts.registrar, `${config.chainId}`, smartAccount, hash];
    const { nonce, proof } = await touch(signed, about);
    loading(word('contact.progress'));
    await ask('POST /api/recoveries/contacts', { smartAccount, pubKeyX, pubKeyY, proof, nonce, attestation });
    leaveForm();
    showDone([word('contact.done'), word('contact.done_words', { address: attestation.identifier })], '');
  });
}
