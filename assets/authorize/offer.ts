// Passkeys that nobody has to look for: among the suggestions of the address field, and at once on the device that has
// one.
import { type Signed, signForApp } from './api.ts';
import type { Place } from './place.ts';
import { refusalOf } from './problem.ts';
import { InsteadError } from './sign-up.ts';

interface Browser {
  isConditionalMediationAvailable?(): Promise<boolean>;
  getClientCapabilities?(): Promise<Readonly<Record<string, boolean>>>;
}

const browser = () => globalThis.PublicKeyCredential as unknown as Browser;

/** Passkeys among the suggestions of a field, until they are withdrawn. `signed` never rejects. */
export interface Offer {
  readonly signed: Promise<Signed>;
  withdraw(): void;
}

/** A nonce is good for five minutes; a field is looked at for an hour at most. */
const [ROUND_MS, ROUNDS] = [240_000, 15];

/** Offers this device's passkeys among the suggestions of the address field, where the browser can. */
export function offerInField({ config, link }: Place): Offer {
  const over = new AbortController();
  const never = new Promise<never>(() => undefined);
  const signed = async () => {
    if (
      !(await browser()
        .isConditionalMediationAvailable?.()
        .catch(() => false))
    )
      return never;
    for (let round = 0; round < ROUNDS && !over.signal.aborted; round++) {
      const end = AbortSignal.timeout(ROUND_MS);
      const signal = AbortSignal.any([over.signal, end]);
      try {
        return await signForApp(config, link, [], { mediation: 'conditional', signal });
      } catch {
        // The form and the button are there: a suggestion that fails says nothing.
        if (!end.aborted) return never;
      }
    }
    return never;
  };
  return { signed: signed(), withdraw: () => over.abort() };
}

/**
 * Signs with a passkey of this device, where the browser can say at once that there is none. Throws `InsteadError` for
 * the form then.
 */
export async function signHere({ config, link }: Place): Promise<Signed> {
  const { immediateGet } =
    (await browser()
      .getClientCapabilities?.()
      .catch(() => undefined)) ?? {};
  if (!immediateGet) return signForApp(config, link);
  return signForApp(config, link, [], { uiMode: 'immediate' }).catch((error: unknown) => {
    if (refusalOf(error)?.error === 'passkey_refused') throw new InsteadError('form');
    throw error;
  });
}
