import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { embeddedSha256, readImage } from '../../../scripts/release/image.ts';

/** A Mach-O file for Apple's processor, with these load commands. */
function machO(...commands: number[]): Buffer {
  const bytes = Buffer.alloc(32 + commands.length * 16);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(0x0100000c, 4);
  bytes.writeUInt32LE(commands.length, 16);
  for (const [i, command] of commands.entries()) {
    bytes.writeUInt32LE(command, 32 + i * 16);
    bytes.writeUInt32LE(16, 36 + i * 16);
  }
  return bytes;
}

test.skipIf(process.platform !== 'linux')('the program that runs this is of this machine', () => {
  const image = readImage(readFileSync(process.execPath));
  expect(image).toMatchObject({ format: 'ELF', processor: process.arch, loader: expect.stringContaining('/ld-') });
});

test('a program for a Mac is found, with or without a signature', () => {
  expect(readImage(machO(0x19, 0x1d))).toEqual({ format: 'Mach-O', processor: 'arm64', isSigned: true });
  expect(readImage(machO(0x19))).toEqual({ format: 'Mach-O', processor: 'arm64', isSigned: false });
});

test('a program for Windows is found', () => {
  const bytes = Buffer.alloc(128);
  bytes.write('MZ', 0);
  bytes.writeUInt32LE(64, 60);
  bytes.write('PE\0\0', 64);
  bytes.writeUInt16LE(0x8664, 68);
  expect(readImage(bytes)).toEqual({ format: 'PE', processor: 'x64' });
});

test('a text is no program', () => {
  expect(() => readImage(Buffer.from('#!/bin/sh\necho no program\n'))).toThrow('this is no program');
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
