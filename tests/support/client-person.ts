// Somebody at a page of an app that signs people up by `vault/client`.
import { type AskCode, type ClientOptions, createClient, type RegisterStep } from '../../client/vault/index.ts';
import { type ClientWorld, faultyFetch, newStorage, on } from './client-world.ts';
import type { Device } from './hostile/device.ts';

let people = 0;

/** What a test changes of a registration. */
export interface RegisterChange {
  readonly askCode?: AskCode;
  readonly signal?: AbortSignal;
  readonly restart?: boolean;
  readonly onStep?: (step: RegisterStep) => void | Promise<void>;
  readonly email?: string;
}

/** A person with an address of her own: a device, what the browser keeps, and the page's connection. */
export function newPerson(world: Pick<ClientWorld, 't' | 'url' | 'device'>, storage = newStorage()) {
  const email = `someone${++people}@example.com`;
  const device = world.device();
  const line = faultyFetch();
  const steps: RegisterStep[] = [];
  const page = (more: Partial<ClientOptions> = {}) =>
    createClient({ url: world.url, storage, fetch: line.fetch, ...more });
  const askCode = () => world.t.codeFor(email);
  const register = (more: RegisterChange = {}, at: Device = device, client = page()) =>
    on(at, () =>
      client.register({
        email,
        askCode,
        ...more,
        onStep: (step) => {
          steps.push(step);
          return more.onStep?.(step);
        },
      }),
    );
  return { email, device, storage, line, steps, page, register };
}

/** The error of a call; undefined if it succeeds. */
export function faultOf(call: Promise<unknown>): Promise<{ error: string; retryAfter?: number; hint?: string }> {
  return call.then(
    () => ({ error: 'none' }),
    (error: { error: string }) => error,
  );
}

/** Asks for no code: the page goes on where it was. */
export const notAsked: AskCode = () => Promise.reject(new Error('not asked again'));
