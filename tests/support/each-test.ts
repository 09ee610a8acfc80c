import { afterEach, beforeEach } from 'bun:test';
import { temporaryFolder } from './databases.ts';

/** A folder for each test of a file, and what a test has begun: both end after it, the newest first. */
export function eachTest(): { readonly folder: { readonly path: string }; readonly ends: (() => unknown)[] } {
  const folder = { path: '' };
  const ends: (() => unknown)[] = [];
  beforeEach(() => {
    const { path, remove } = temporaryFolder();
    folder.path = path;
    ends.push(remove);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return { folder, ends };
}
