import { type Child, make } from '../dom.ts';
import { copyable, explorerLink } from './copy.ts';
import { wholeMoment } from './moment.ts';
import type { RegistrationDetail } from './rows.ts';
import { kindOf, registrationState } from './words.ts';

type Fact = readonly [string, Child];

/** The page of a block, a transaction or an account in the explorer; undefined without one. */
export function pageOf(
  { explorer }: Pick<RegistrationDetail['chain'], 'explorer'>,
  kind: 'block' | 'tx' | 'address',
  value: string,
): string | undefined {
  return explorer === null ? undefined : `${explorer}/${kind}/${value}`;
}

/** The grounds of each word about a registration: who signed, which block, and when the vault looked. */
export function evidenceFacts(detail: RegistrationDetail): readonly Fact[] {
  const { registration, evidence } = detail;
  const { status, holder, proven, channel } = registration;
  return [
    [registrationState(registration).text, stateEvidence(detail)],
    ...(holder ? [[`Holds its ${kindOf(channel).toLowerCase()}`, holderEvidence(detail)] as const] : []),
    ...(proven ? [['Proven by its passkey', keyEvidence(evidence.key)] as const] : []),
    ...(status === 'confirmed'
      ? [
          [
            'Looked at',
            evidence.lookedAt === null ? 'Not yet since its block became final' : wholeMoment(evidence.lookedAt),
          ] as const,
        ]
      : []),
  ];
}

function stateEvidence({ registration, relay, chain }: RegistrationDetail): Child {
  const { blockNumber, status, txHash } = registration;
  if (blockNumber !== null) {
    const block = String(blockNumber);
    const by =
      chain.registry === null ? null : copyable(chain.registry, 'Registry', pageOf(chain, 'address', chain.registry));
    return parts(
      parts('Block ', block, ' ', explorerLink('Block', pageOf(chain, 'block', block))),
      by && parts('shows it in the registry ', by),
    );
  }
  if (txHash === null)
    return relay === null ? 'Nothing on the chain yet' : "The vault's own record: nothing is signed yet";
  return status === 'failed'
    ? "The vault's own record of its transaction"
    : 'Its transaction, which is in no block yet';
}

function holderEvidence({ registration, verifiedAt }: RegistrationDetail): Child {
  if (registration.channel === 'handle') return 'Its alias, which led to this DID at the last look';
  return verifiedAt === null
    ? 'The attestation that it was registered with'
    : parts('A code that was right, last ', wholeMoment(verifiedAt));
}

function keyEvidence(key: string | null): Child {
  return key === null ? 'A proof of the first version' : parts('Signed by the key ', copyable(key, 'Key'));
}

function parts(...children: readonly Child[]): HTMLElement {
  return make('span', {}, ...children);
}
