// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Prices of ticks. Price is currency1 per currency0 = 1.0001^tick; pools keep its root with 96 fractional bits.
library TickPrice {
    int24 internal constant MAX_TICK = 887272;
    // 2^128 / sqrt(1.0001), rounded to nearest.
    uint256 private constant INVERSE_ROOT = 340265354078544963557816517032075149313;
    uint256 private constant ONE = 1 << 128;

    error TickOutOfRange();

    /// sqrt(1.0001^tick) * 2^96. Squares and multiplies in 128 fractional bits, which is right to some 25 digits for the
    /// ticks that launches start at: plenty for a stand-in, and not bit for bit what Uniswap gives.
    function rootOf(int24 tick) internal pure returns (uint160) {
        if (tick > MAX_TICK || tick < -MAX_TICK) revert TickOutOfRange();
        uint256 exponent = uint256(int256(tick < 0 ? -tick : tick));
        uint256 root = ONE;
        uint256 factor = INVERSE_ROOT;
        while (exponent != 0) {
            if (exponent & 1 == 1) root = times(root, factor);
            factor = times(factor, factor);
            exponent >>= 1;
        }
        // `root` is now the root of 1.0001^-|tick|.
        if (tick > 0) root = type(uint256).max / root;
        return uint160(root >> 32);
    }

    /// What `amount` of one currency is worth in the other at the root price, fees left out.
    function convert(uint160 root, uint256 amount, bool fromCurrency0) internal pure returns (uint256) {
        if (fromCurrency0) return mulDiv(mulDiv(amount, root, 1 << 96), root, 1 << 96);
        return mulDiv(mulDiv(amount, 1 << 96, root), 1 << 96, root);
    }

    /// One factor is at most 2^128 and the other below it, so the product fits.
    function times(uint256 a, uint256 b) private pure returns (uint256) {
        return (a * b) >> 128;
    }

    /// a * b / c, refused (by checked arithmetic) when a * b does not fit into 256 bits. Amounts here are below 2^97 and
    /// roots below 2^160, so it does.
    function mulDiv(uint256 a, uint256 b, uint256 c) private pure returns (uint256) {
        return a * b / c;
    }
}
