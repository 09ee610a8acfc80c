// The page's state over a reload: for its own convenience, since the server believes none of it.

/** The person who signed in here. */
export interface Person {
  readonly did: string;
  readonly account: string;
  /** Their passkey and its key, for which the payment page asks. */
  readonly credentialId: string;
  readonly pubKeyX: string;
  readonly pubKeyY: string;
}

/** Where a payment may be found. */
export interface Hints {
  readonly userOpHash: string;
  readonly txHash?: string;
  readonly account?: string;
}

/** The stored values, by name: the person on this device, an order and its receipt in this tab. */
interface Kept {
  readonly person: Person;
  readonly order: string;
  readonly hints: Hints;
}

const placeOf = (name: keyof Kept) => (name === 'person' ? localStorage : sessionStorage);

/** The value stored under a name; undefined if there is none, or the browser stores nothing. */
export function recall<Name extends keyof Kept>(name: Name): Kept[Name] | undefined {
  try {
    return JSON.parse(placeOf(name).getItem(`shop.${name}`) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it; undefined forgets it. */
export function keep<Name extends keyof Kept>(name: Name, value: Kept[Name] | undefined): void {
  try {
    if (value === undefined) placeOf(name).removeItem(`shop.${name}`);
    else placeOf(name).setItem(`shop.${name}`, JSON.stringify(value));
  } catch {
    // The page works without.
  }
}
