// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Prices of ticks. Price is currency1 per currency0 = 1.0001^tick; pools keep its root with 96 fractional bits.
library TickPrice {
    int24 internal constant MAX_TICK = 887272;
    error TickOutOfRange();

    /// sqrt(1.0001^tick) * 2^96, rounded up: to the last digit what Uniswap gives.
    function rootOf(int24 tick) internal pure returns (uint160) {
        if (tick > MAX_TICK || tick < -MAX_TICK) revert TickOutOfRange();
        // 2^128 / sqrt(1.0001)^(2^i), rounded to nearest.
        uint128[20] memory factors = [
            uint128(0xfffcb933bd6fad37aa2d162d1a594001),
            0xfff97272373d413259a46990580e213a,
            0xfff2e50f5f656932ef12357cf3c7fdcc,
            0xffe5caca7e10e4e61c3624eaa0941cd0,
            0xffcb9843d60f6159c9db58835c926644,
            0xff973b41fa98c081472e6896dfb254c0,
            0xff2ea16466c96a3843ec78b326b52861,
            0xfe5dee046a99a2a811c461f1969c3053,
            0xfcbe86c7900a88aedcffc83b479aa3a4,
            0xf987a7253ac413176f2b074cf7815e54,
            0xf3392b0822b70005940c7a398e4b70f3,
            0xe7159475a2c29b7443b29c7fa6e889d9,
            0xd097f3bdfd2022b8845ad8f792aa5825,
            0xa9f746462d870fdf8a65dc1f90e061e5,
            0x70d869a156d2a1b890bb3df62baf32f7,
            0x31be135f97d08fd981231505542fcfa6,
            0x9aa508b5b7a84e1c677de54f3e99bc9,
            0x5d6af8dedb81196699c329225ee604,
            0x2216e584f5fa1ea926041bedfe98,
            0x48a170391f7dc42444e8fa2
        ];
        uint256 exponent = uint256(int256(tick < 0 ? -tick : tick));
        uint256 root = 1 << 128;
        for (uint256 i = 0; i < factors.length; i++) {
            if (exponent >> i & 1 == 1) root = root * factors[i] >> 128;
        }
        // `root` is now the root of 1.0001^-|tick|.
        if (tick > 0) root = type(uint256).max / root;
        return uint160((root + type(uint32).max) >> 32);
    }

    /// The greatest tick of which the root is not above this one.
    function tickOf(uint160 root) internal pure returns (int24) {
        (int24 low, int24 high) = (-MAX_TICK, MAX_TICK);
        while (low < high) {
            // Rounded up, so that two neighbours end the search.
            int24 middle = low + (high - low + 1) / 2;
            if (rootOf(middle) <= root) low = middle;
            else high = middle - 1;
        }
        return low;
    }
}
