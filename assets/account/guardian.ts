// Recovery by email: set it up, name a second address for warnings, turn it off.

import { bytesOf, dataOf, encode, type Keccak, utf8 } from '../../client/wallet/abi.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { askPasskey } from '../../client/wallet/passkey.ts';
import { identifierHash, proofOf } from '../../client/wallet/proof.ts';
import { word } from '../words/words.ts';
import { hex } from './facts.ts';
import { daysOf } from './format.ts';
import type { Signed } from './home.ts';
import { ask } from './http.ts';
import { perform, showDone } from './perform.ts';
import { guard, ProblemError } from './problem.ts';
import { type Attestation, prove } from './prove.ts';
import { element, loading, onSubmit, show } from './view.ts';

const DAY = 86_400;

/** Sets recovery up, or anew: address, waiting time, and the owner's word on the network. */
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
    const { account, config, enclave } = signed;
    const proofExpiresAt = soon();
    const head = proofHead(enclave.keccak256, signed, 'vault/recovery-contact/v1');
    const challenge = head([identifierHash(enclave.keccak256, attestation), BigInt(proofExpiresAt)]);
    const proof = proofOf(await askPasskey(config.rpId, challenge, [account.credentialId]));
    loading(word('contact.progress'));
    const { x: pubKeyX, y: pubKeyY, address: smartAccount } = account;
    await ask('POST /api/recoveries/contacts', { smartAccount, pubKeyX, pubKeyY, proof, proofExpiresAt, attestation });
    showDone([word('contact.done'), word('contact.done_words', { address: attestation.identifier })], '');
  });
}

/** The end of a proof that is made now. */
export function soon(): number {
  return Math.floor(Date.now() / 1000) + 300;
}

/** The challenge of a proof: domain, registrar, chain, account and key, then the rest of its words. */
export function proofHead(
  keccak256: Keccak,
  { config, contracts, account }: Pick<Signed, 'config' | 'contracts' | 'account'>,
  domain: string,
): (rest: readonly (bigint | Hex)[]) => Uint8Array<ArrayBuffer> {
  const text = utf8(domain);
  const digits = Array.from(text, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const registrar = keccak256(utf8(contracts.registrar));
  const registrarHash = `0x${Array.from(registrar, (byte) => byte.toString(16).padStart(2, '0')).join('')}` as const;
  return (rest) => {
    const { x = '0x0', y = '0x0', address } = account;
    const args = [{ bytes: `0x${digits}` as const }, registrarHash, BigInt(config.chainId), address, x, y, ...rest];
    return new Uint8Array(keccak256(bytesOf(`0x${encode(args)}`)));
  };
}
