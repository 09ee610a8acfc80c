import type { Page } from 'puppeteer-core';
import type { AuthorizeWorld } from '../authorize-page.ts';
import type { ScreenWants } from './faults.ts';

/** A screen of a page, by its name. */
export interface Screen extends ScreenWants {
  readonly name: string;
  /** Leads somebody to it, from wherever the screens before have left them. */
  reach(): Promise<Page>;
}

/** The world of a test, once it has started. */
export type World = () => AuthorizeWorld;

/** Makes it when it is first asked for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A screen that is reached from the one before it. */
export interface Step<Person> extends ScreenWants {
  readonly name: string;
  /** Does what leads to it, and waits until it is there. */
  readonly go: (person: Person) => Promise<unknown>;
}

/** The screens of one way, each reached from the one before; where that is not shown, from the first on. */
export function walk<Person extends { readonly page: Page }>(
  begin: () => Promise<Person>,
  steps: readonly Step<Person>[],
): readonly Screen[] {
  let last: { readonly step: number; readonly person: Person; readonly url: string } | undefined;
  return steps.map(({ go: _, ...screen }, i) => ({
    ...screen,
    async reach() {
      const before = last?.step === i - 1 && last.person.page.url() === last.url ? last : undefined;
      last = undefined;
      const person = before?.person ?? (await begin());
      for (const { go } of steps.slice(before ? i : 0, i + 1)) await go(person);
      last = { step: i, person, url: person.page.url() };
      return person.page;
    },
  }));
}

let people = 0;
/** The address of somebody new, as long as addresses may be. */
export const address = (): string => `a.rather.long.name.of.person${++people}@mail.some-company.example.com`;
