import { expect, test } from 'bun:test';
import { openDraw } from '../../support/draw.ts';
import { SEED } from '../../support/seed.ts';
import { openDisk } from './disk.ts';

const say = (sql: string) => ({ sql, args: {} });

test.each([false, true])(
  'a full disk takes what changes nothing, and no other write; after a power cut: %p',
  async (isCut) => {
    const disk = await openDisk(openDraw(SEED));
    disk.run([say('CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)')], 'write');
    disk.run([say('INSERT INTO counts (id, n) VALUES (1, 7)')], 'write');
    if (isCut) disk.cutPower();
    disk.trouble = 'is full';
    for (const [sql, isTaken] of [
      ['UPDATE counts SET n = n', true],
      ['INSERT OR IGNORE INTO counts (id, n) VALUES (1, 8)', true],
      ['INSERT INTO counts (id, n) VALUES (1, 7) ON CONFLICT (id) DO UPDATE SET n = excluded.n', true],
      ['INSERT INTO counts (id, n) VALUES (1, 7) ON CONFLICT (id) DO UPDATE SET n = n + 1', false],
      ['UPDATE counts SET n = n + 1', false],
      ['INSERT INTO counts (id, n) VALUES (2, 7)', false],
      ['DELETE FROM counts', false],
    ] as const) {
      const write = () => disk.run([say('SELECT 1'), say(sql)], 'write');
      if (isTaken) expect(write).not.toThrow();
      else expect(write).toThrow('SQLITE_FULL');
    }
    expect(disk.rows('SELECT * FROM counts')).toEqual([{ id: 1, n: 7 }]);
    disk.trouble = undefined;
    disk.run([say('UPDATE counts SET n = 8')], 'write');
    expect(disk.rows('SELECT n FROM counts')).toEqual([{ n: 8 }]);
    disk.close();
  },
);
