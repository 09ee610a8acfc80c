// The keys that an assertion shows: a file of its own, loaded when somebody signs in.
import { rawSignature } from '../wallet/der.ts';
import { type Assertion, keysOf } from '../wallet/passkey.ts';
import type { PublicKey } from '../wallet/recover.ts';

/** The two keys of which one made the assertion. */
export function keysIn(assertion: Assertion): Promise<PublicKey[]> {
  return keysOf(assertion, { rawSignature });
}
