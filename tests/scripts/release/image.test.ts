import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hasRightSignature, signedAdHoc } from '../../../scripts/build/mac-signature.ts';
import { embeddedSha256, readImage } from '../../../scripts/release/image.ts';

const PAGES = 3;

/** A Mach-O file for Apple's processor: two segments and, unless it has none, a signature that is wrong. */
function machO(isSigned = true): Buffer {
  const end = PAGES * 4096 + 100;
  const bytes = Buffer.alloc(end + (isSigned ? 64 : 0), 7);
  bytes.fill(0, 0, 32 + 72 * 2 + 16);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(0x0100000c, 4);
  bytes.writeUInt32LE(isSigned ? 3 : 2, 16);
  for (const [i, [name, from, size]] of (
    [
      ['__TEXT', 0, 4096],
      ['__LINKEDIT', 4096, bytes.length - 4096],
    ] as const
  ).entries()) {
    const at = 32 + i * 72;
    bytes.writeUInt32LE(0x19, at);
    bytes.writeUInt32LE(72, at + 4);
    bytes.write(name, at + 8);
    bytes.writeBigUInt64LE(BigInt(from), at + 40);
    bytes.writeBigUInt64LE(BigInt(size), at + 48);
  }
  if (isSigned) for (const [i, word] of [0x1d, 16, end, 64].entries()) bytes.writeUInt32LE(word, 32 + 144 + i * 4);
  return bytes;
}

test.skipIf(process.platform !== 'linux')('the program that runs this is of this machine', () => {
  const image = readImage(readFileSync(process.execPath));
  expect(image).toMatchObject({ format: 'ELF', processor: process.arch, loader: expect.stringContaining('/ld-') });
});

test('a program for a Mac is found, and whether its signature is right', () => {
  expect(readImage(machO())).toEqual({ format: 'Mach-O', processor: 'arm64', isSigned: false });
  expect(readImage(machO(false)).isSigned).toBe(false);
  const signed = signedAdHoc(machO());
  expect(readImage(signed).isSigned).toBe(true);
  // A signed file that is signed again stays as it is.
  expect(signedAdHoc(signed).equals(signed)).toBe(true);
  for (const at of [24, 5000, PAGES * 4096 + 99]) {
    const flipped = Buffer.from(signed);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect(hasRightSignature(flipped)).toBe(false);
  }
  expect(() => signedAdHoc(machO(false))).toThrow('no signature to replace');
});

test('a program for Windows is found', () => {
  const bytes = Buffer.alloc(128);
  bytes.write('MZ', 0);
  bytes.writeUInt32LE(64, 60);
  bytes.write('PE\0\0', 64);
  bytes.writeUInt16LE(0x8664, 68);
  expect(readImage(bytes)).toEqual({ format: 'PE', processor: 'x64' });
});

test('a text is not a program', () => {
  expect(() => readImage(Buffer.from('#!/bin/sh\necho no program\n'))).toThrow('this is not a program');
});

test('what is embedded stands before the table and the mark, which are not part of it', () => {
  const made = (runtime: string, content: string, flags: number) => {
    const table = Buffer.alloc(32, flags);
    table.writeBigUInt64LE(BigInt(content.length), 0);
    return Buffer.concat([Buffer.from(runtime), Buffer.from(content), table, Buffer.from('\n---- Bun! ----\n\0\0')]);
  };
  const sum = createHash('sha256').update('modules').digest('hex');
  expect(embeddedSha256(made('a runtime', 'modules', 1))).toBe(sum);
  expect(embeddedSha256(made('another', 'modules', 2))).toBe(sum);
  expect(embeddedSha256(made('a runtime', 'moduleS', 1))).not.toBe(sum);
  expect(() => embeddedSha256(Buffer.from('a runtime alone'))).toThrow('nothing is embedded');
});
