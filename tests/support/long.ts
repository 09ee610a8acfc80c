/** Whether seeded tests run in their long form: `npm test -- AREA --long`. */
export const isLong = process.env['TEST_LONG'] === '1';
