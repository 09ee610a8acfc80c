import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../../lib/base/version.ts';
import { dependencies, version } from '../../../package.json';
import { findComponents } from '../../../scripts/release/components.ts';
import { LINKED } from '../../../scripts/release/linked.ts';
import { billOfMaterials, changesOf, licences } from '../../../scripts/release/papers.ts';
import { toolPath } from '../../../scripts/testing/tools.ts';

const ROOT = join(import.meta.dir, '../../..');
const components = await findComponents();
const COMMIT = { commit: 'a'.repeat(40), date: '2026-11-23T01:00:00.000Z' };

describe('the bill of materials', () => {
  const bill = JSON.parse(billOfMaterials(components, COMMIT));

  test('has each run-time dependency, what the contracts and the enclave are compiled with, and Bun', () => {
    const names = bill.components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining([...Object.keys(dependencies), '@openzeppelin/contracts', 'assemblyscript', 'bun', 'uqr']),
    );
    // These only build or test.
    for (const name of ['typescript', 'puppeteer-core', 'hardhat-predeploy', 'react'])
      expect(names).not.toContain(name);
  });

  test('has the versions that are installed, and refers to nothing that it does not have', () => {
    for (const { name, version } of components) {
      const places = [join(ROOT, 'node_modules', name), toolPath(name)].map((path) => join(path, 'package.json'));
      const installed = JSON.parse(readFileSync(places.find((path) => existsSync(path)) ?? name, 'utf8'));
      expect([name, version]).toEqual([name, installed.version]);
    }
    const refs = [bill.metadata.component, ...bill.components].map((one) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    for (const { ref, dependsOn } of bill.dependencies)
      expect([ref, ...dependsOn].filter((one: string) => !refs.includes(one))).toEqual([]);
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', metadata: { component: { version } } });
    expect(bill.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('is the same for the same commit', () => {
    expect(billOfMaterials(components, COMMIT)).toBe(billOfMaterials(components, COMMIT));
    expect(billOfMaterials(components, { ...COMMIT, commit: 'b' })).not.toBe(billOfMaterials(components, COMMIT));
  });
});

test('the licences have a text for each package, and a line for each library of Bun', () => {
  const text = licences(components);
  for (const { name, version, license } of components) expect(text).toContain(`${name} ${version}: ${license}`);
  for (const [name, license] of LINKED) expect(text).toContain(`  ${name}: ${license}, `);
  const bodies = text.split(/^={80}$/m).filter((_, i) => i > 0 && i % 2 === 0);
  expect(bodies.length).toBe(components.length + 2);
  expect(bodies.filter((body) => body.trim().length < 500)).toEqual([]);
});

describe('the notes', () => {
  test("are the changelog's section of the version", () => {
    expect(changesOf('1.1', '# Changelog\n\n## 1.10 (a day)\n\nnew\n\n## 1.1 (a day)\n\n- old\n\n## 1.0\n')).toBe(
      '- old',
    );
    expect(() => changesOf('2.0', '## 1.0\n')).toThrow('CHANGELOG.md has no section 2.0');
  });

  test('there are some for this version', () => {
    expect(changesOf(VERSION)).not.toBe('');
  });
});
