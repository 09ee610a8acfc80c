// The people who are led to the screens. Each keeps one window, which costs more than what is shown in it.
import { createHere, type Device, openDevice } from '../account-page.ts';
import { type AuthorizeWorld, goThrough, type Visitor, visit } from '../authorize-page.ts';
import { address, type World } from './screen.ts';

/** Somebody without an account, whom no browser knows. */
export const strangerOf = perWorld((world) => visit(world, 'about:blank'));

/** Somebody whose account has funds. Their window begins at their account. */
export const ownerOf = perWorld(async (world): Promise<Device> => {
  const here = await openDevice(world);
  await createHere(world, here);
  return here;
});

/** Somebody who has signed up with an app. */
export const knownOf = perWorld(async (world): Promise<Visitor & { readonly who: string; readonly did: string }> => {
  const [who, visitor] = [address(), await visit(world)];
  const { answer } = await goThrough(visitor, who);
  return { ...visitor, who, did: String(answer?.['did']) };
});

/** Makes it once for each world, when it is first asked for. */
function perWorld<T>(make: (world: AuthorizeWorld) => Promise<T>): (world: World) => () => Promise<T> {
  const made = new WeakMap<AuthorizeWorld, Promise<T>>();
  return (world) => () => {
    const one = made.get(world()) ?? make(world());
    made.set(world(), one);
    return one;
  };
}
