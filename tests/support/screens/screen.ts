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

let people = 0;
/** The address of somebody new, as long as addresses may be. */
export const address = (): string => `a.rather.long.name.of.person${++people}@mail.some-company.example.com`;
