import { elementsIn, type FakeElement } from './dom.ts';
import type { Window } from './window.ts';

/** A window of the confirm page, as somebody uses it who waits for what it shows. */
export interface Visit extends Omit<Window, 'press' | 'pressIn'> {
  /** Presses a button once it can be. */
  press(id: string): Promise<void>;
  /** Presses one of the buttons in a list. */
  pressIn(id: string, which: number): Promise<void>;
  /** Waits until a part is shown; answers what can be read of it. */
  shows(part: string): Promise<string>;
  /** Waits until the payment waits for its block. */
  awaitsBlock(): Promise<void>;
  /** Lets time pass until it is so. Throws what is shown instead. */
  until(what: string, isSo: () => boolean): Promise<void>;
  /** All that could be read so far, as often as it was looked at. */
  seen(): string;
  /** The field in a list, and the link to a place. */
  field(id: string): FakeElement | undefined;
  linkTo(id: string, href: string): FakeElement | undefined;
  /** The outcome in the link back to the shop. */
  outcomeIn(id: 'leave-link' | 'return'): Readonly<Record<string, unknown>>;
}

/** The time of a window. */
interface Passing {
  now(): number;
  settle(): Promise<void>;
  /** A step of it. */
  pass(): Promise<void>;
  /** What else than the page may fail. */
  readonly faults?: readonly unknown[];
}

/** How much of its own time a page gets to show something. */
const LIMIT_MS = 900_000;

/** Uses a window. */
export function visit(window: Window, time: Passing): Visit {
  const seen = new Set<string>();
  const until: Visit['until'] = async (what, isSo) => {
    const end = time.now() + LIMIT_MS;
    await time.settle();
    for (;;) {
      const text = window.text(window.part() ?? 'loading');
      seen.add(text);
      const [fault] = [...window.faults, ...(time.faults ?? [])];
      if (fault) throw fault instanceof Error ? fault : new Error(String(fault));
      if (isSo()) return;
      if (time.now() > end) throw new Error(`no ${what} in: ${text}`);
      await time.pass();
    }
  };
  const element = (id: string) => window.document.byId.get(id);
  const below = (id: string) => elementsIn(element(id) as FakeElement);
  return {
    ...window,
    until,
    async press(id) {
      await until(`#${id}`, () => window.canPress(id));
      window.press(id);
      await time.settle();
    },
    async pressIn(id, which) {
      window.pressIn(id, which);
      await time.settle();
    },
    async shows(part) {
      await until(part, () => window.part() === part);
      return window.text(part);
    },
    awaitsBlock: () =>
      until('the last step', () => {
        const isCurrent = element('step-block')?.getAttribute('aria-current') === 'step';
        return window.part() === 'progress' && isCurrent;
      }),
    seen: () => [...seen].join('\n'),
    field: (id) => below(id).find(({ tag }) => tag === 'input'),
    linkTo: (id, href) => below(id).find((one) => one.href === href),
    outcomeIn(id) {
      const { hash } = new URL(element(id)?.href ?? '');
      return JSON.parse(Buffer.from(hash.replace('#vault-pay=', ''), 'base64url').toString());
    },
  };
}

/** Has the page make a new account. */
export async function makeNew(window: Visit): Promise<void> {
  await window.press('newcomer');
  await window.press('create');
}
