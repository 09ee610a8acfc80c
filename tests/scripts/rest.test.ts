import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '../../routes/index.ts';
import { callsOf, modulesLeftOut, standInFor } from '../../scripts/rest.ts';
import { temporaryFolder } from '../support/databases.ts';

const ROOT = join(import.meta.dir, '../..');

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** The stand-in for a module, which is `part` of what the text `load` gives. */
async function standIn(module: Readonly<Record<string, unknown>>, load = 'undefined') {
  const [calls, path] = ['calls', 'module'].map((name) => join(folder.path, `${name}-${crypto.randomUUID()}.js`));
  writeFileSync(`${calls}`, callsOf(load));
  writeFileSync(`${path}`, standInFor(module, 'part', calls));
  return import(`${path}`);
}

/** What the program reads of a module before it calls one of its functions. */
function constantsOf(value: unknown): unknown {
  if (typeof value === 'function') return 'a function';
  if (value instanceof RegExp) return value;
  if (ROUTES.includes(value as (typeof ROUTES)[number])) {
    const { method, path, body, limit } = value as (typeof ROUTES)[number];
    return { method, path, limit, body, handle: 'a function' };
  }
  if (Array.isArray(value)) return value.map(constantsOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, constantsOf(one)]));
}

describe('what a start leaves out', () => {
  test.each(modulesLeftOut())('%s has a stand-in of the same routes and constants', async (path) => {
    const module = await import(join(ROOT, path));
    expect(constantsOf({ ...(await standIn(module)) })).toEqual(constantsOf({ ...module }));
  });

  test('has every route but those of the start', async () => {
    const modules = await Promise.all(modulesLeftOut().map((path) => import(join(ROOT, path))));
    const left = new Set(modules.flatMap((module) => Object.values(module).flat()));
    expect(ROUTES.filter((route) => !left.has(route)).map(({ path }) => path)).toEqual([
      '/api/status',
      '/healthz',
      '/readyz',
    ]);
  });

  test('is loaded by the first call of a function, with its arguments and its result', async () => {
    const module = {
      add: (a: number, b: number) => a + b,
      list: [{ name: 'one', call: (text: string) => `${text}!` }],
    };
    const given = { loads: 0, module };
    Object.assign(globalThis, { given });
    const { add, list } = await standIn(module, '(globalThis.given.loads++, { part: globalThis.given.module })');
    expect([list[0].name, given.loads]).toEqual(['one', 0]);
    expect([add(1, 2), list[0].call('two'), add(3, 4), given.loads]).toEqual([3, 'two!', 7, 1]);
  });

  test('fails a call while it cannot be loaded, and is loaded by the next', async () => {
    const path = join(folder.path, 'rest.js');
    const { answer } = await standIn({ answer: () => 1 }, `import.meta.require(${JSON.stringify(path)})`);
    expect(answer).toThrow();
    writeFileSync(path, 'export const part = { answer: () => 42 };');
    expect(answer()).toBe(42);
  });

  test('holds nothing that a text cannot stand for', () => {
    expect(() => standInFor({ list: { map: new Map() } }, 'part')).toThrow(
      'list.map is no constant: see scripts/rest.ts',
    );
  });
});
